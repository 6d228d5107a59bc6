SELECT row_to_json(r$)::text
FROM (SELECT t1$."id" AS "id", t1$."document_id" AS "documentId", t1$."title" AS "title", (SELECT coalesce(json_agg(u$.json
ORDER BY u$.position), '[]')
FROM (SELECT (SELECT row_to_json(r$)
FROM (SELECT p$."__component", p$."id", p$."text", p$."author") r$) AS json, p$."$position" AS position
FROM (SELECT 'blocks.quote' AS "__component", t2$."id" AS "id", t2$."text" AS "text", (SELECT row_to_json(r$)
FROM (SELECT t3$."id" AS "id", t3$."document_id" AS "documentId", t3$."name" AS "name"
FROM "authors" t3$
WHERE t3$."id" = t2$."author_key") r$) AS "author", t2$."position" AS "$position"
FROM "components_blocks_quote" t2$
WHERE (t2$."owner" = 'article.blocks' AND t2$."owner_key" = t1$."document_key" AND t2$."status" = t1$."status")) p$) u$) AS "blocks"
FROM (SELECT t1$.*
FROM "articles" t1$
WHERE (t1$."document_id" = $1::text AND t1$."status" = 'published' AND t1$."locale" = $2::text)) t1$) r$

["abc","en"]
