SELECT '[' || coalesce(string_agg(row_to_json(r$)::text, ','), '') || ']'
FROM (SELECT t1$."id" AS "id", t1$."document_id" AS "documentId", t1$."title" AS "title"
FROM (SELECT t1$.*
FROM "articles" t1$
WHERE (t1$."status" = 'draft' AND t1$."locale" = $1::text)
ORDER BY t1$."id" LIMIT $2::integer OFFSET $3::integer) t1$) r$

["fr",25,50]
