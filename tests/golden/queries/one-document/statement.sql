SELECT row_to_json(r$)::text
FROM (SELECT t1$."id" AS "id", t1$."document_id" AS "documentId", t1$."title" AS "title"
FROM (SELECT t1$.*
FROM "articles" t1$
WHERE (t1$."document_id" = $1::text AND t1$."status" = 'published' AND t1$."locale" = $2::text)) t1$) r$

["abc","en"]
