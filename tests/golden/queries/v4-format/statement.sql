SELECT row_to_json(r$)::text
FROM (SELECT t1$."id" AS "id", t1$."document_id" AS "documentId", (SELECT row_to_json(r$)
FROM (SELECT t1$."title" AS "title", (SELECT row_to_json(r$)
FROM (SELECT (SELECT row_to_json(r$)
FROM (SELECT t2$."id" AS "id", t2$."document_id" AS "documentId", (SELECT row_to_json(r$)
FROM (SELECT t2$."name" AS "name") r$) AS "attributes"
FROM "authors" t2$
WHERE t2$."id" = t1$."author_key") r$) AS "data") r$) AS "author", (SELECT row_to_json(r$)
FROM (SELECT (SELECT row_to_json(r$)
FROM (SELECT (SELECT row_to_json(r$)
FROM (SELECT (SELECT count(*) AS "count"
FROM "articles_tags_links" t4$
JOIN LATERAL (SELECT t3$.*
FROM "tags" t3$
WHERE t3$."id" = t4$."target_key" OFFSET 0) t3$ ON true
WHERE t4$."owner_id" = t1$."id") AS "count") r$) AS "attributes") r$) AS "data") r$) AS "tags", (SELECT coalesce(json_agg(r$), '[]')
FROM (SELECT t5$."id" AS "id", t5$."label" AS "label", t5$."url" AS "url"
FROM "components_shared_link" t5$
WHERE (t5$."owner" = 'article.links' AND t5$."owner_key" = t1$."document_key" AND t5$."status" = t1$."status")
ORDER BY t5$."position", t5$."id") r$) AS "links") r$) AS "attributes"
FROM (SELECT t1$.*
FROM "articles" t1$
WHERE (t1$."document_id" = $1::text AND t1$."status" = 'published' AND t1$."locale" = $2::text)) t1$) r$

["abc","en"]
