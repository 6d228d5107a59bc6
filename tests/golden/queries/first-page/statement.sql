SELECT '[' || coalesce(string_agg(row_to_json(r$)::text, ','), '') || ']'
FROM (SELECT t1$."id" AS "id", t1$."document_id" AS "documentId", t1$."name" AS "name"
FROM (SELECT t1$.*
FROM "tags" t1$
ORDER BY t1$."id" LIMIT 2) t1$) r$

[]
