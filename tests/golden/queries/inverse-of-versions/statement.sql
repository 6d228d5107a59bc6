SELECT row_to_json(r$)::text
FROM (SELECT t1$."id" AS "id", t1$."document_id" AS "documentId", t1$."name" AS "name", (SELECT coalesce(json_agg(r$), '[]')
FROM (SELECT t2$."id" AS "id", t2$."document_id" AS "documentId", t2$."title" AS "title"
FROM "articles" t2$
WHERE (t2$."author_key" = t1$."id" AND t2$."status" >= 'published')
ORDER BY t2$."author_inverse_position", t2$."id") r$) AS "articles"
FROM (SELECT t1$.*
FROM "authors" t1$
WHERE t1$."document_id" = $1::text) t1$) r$

["ann"]
