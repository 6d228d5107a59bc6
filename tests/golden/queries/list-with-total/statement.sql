SELECT (SELECT '[' || coalesce(string_agg(row_to_json(r$)::text, ','), '') || ']'
FROM (SELECT t1$."id" AS "id", t1$."document_id" AS "documentId", t1$."name" AS "name"
FROM (SELECT t1$.*
FROM (SELECT t1$.*
FROM "authors" t1$
ORDER BY t1$."name" DESC, t1$."id" LIMIT 64) t1$ LIMIT (SELECT $1::integer AS "rows") OFFSET (SELECT $2::integer AS "rows")) t1$) r$), (SELECT count(*) AS "total"
FROM "authors" t1$)

[3,5]
