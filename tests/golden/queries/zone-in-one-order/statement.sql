SELECT row_to_json(r$)::text
FROM (SELECT t1$."id" AS "id", t1$."document_id" AS "documentId", t1$."title" AS "title", (SELECT coalesce(json_agg(u$.json
ORDER BY u$.position), '[]')
FROM (SELECT (SELECT row_to_json(r$)
FROM (SELECT p$."__component", p$."id", p$."text", p$."author") r$) AS json, p$."$position" AS position
FROM (SELECT 'blocks.quote' AS "__component", t2$."id" AS "id", t2$."text" AS "text", (SELECT row_to_json(r$)
FROM (SELECT t3$."id" AS "id", t3$."document_id" AS "documentId", t3$."name" AS "name", t3$."email" AS "email", to_char((t3$."created_at" AT TIME ZONE 'UTC'), 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') AS "createdAt", to_char((t3$."updated_at" AT TIME ZONE 'UTC'), 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') AS "updatedAt", to_char((t3$."published_at" AT TIME ZONE 'UTC'), 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') AS "publishedAt"
FROM "authors" t3$
WHERE t3$."id" = t2$."author_key") r$) AS "author", t2$."position" AS "$position"
FROM "components_blocks_quote" t2$
WHERE (t2$."owner" = 'article.blocks' AND t2$."owner_key" = t1$."document_key" AND t2$."status" = t1$."status")) p$
UNION ALL SELECT (SELECT row_to_json(r$)
FROM (SELECT p$."__component", p$."id", p$."label", p$."url") r$) AS json, p$."$position" AS position
FROM (SELECT 'shared.link' AS "__component", t4$."id" AS "id", t4$."label" AS "label", t4$."url" AS "url", t4$."position" AS "$position"
FROM "components_shared_link" t4$
WHERE (t4$."owner" = 'article.blocks' AND t4$."owner_key" = t1$."document_key" AND t4$."status" = t1$."status")) p$) u$) AS "blocks"
FROM (SELECT t1$.*
FROM "articles" t1$
WHERE (t1$."document_id" = $1::text AND t1$."status" = 'published' AND t1$."locale" = $2::text)) t1$) r$

["abc","en"]
