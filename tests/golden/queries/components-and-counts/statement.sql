SELECT row_to_json(r$)::text
FROM (SELECT t1$."id" AS "id", t1$."document_id" AS "documentId", t1$."title" AS "title", (SELECT coalesce(json_agg(r$), '[]')
FROM (SELECT t2$."id" AS "id", t2$."label" AS "label", t2$."url" AS "url"
FROM "components_shared_link" t2$
WHERE (t2$."owner" = 'article.links' AND t2$."owner_key" = t1$."document_key" AND t2$."status" = t1$."status")
ORDER BY t2$."label", t2$."id") r$) AS "links", (SELECT row_to_json(r$)
FROM (SELECT (SELECT count(*) AS "count"
FROM "articles_tags_links" t4$
JOIN LATERAL (SELECT t3$.*
FROM "tags" t3$
WHERE t3$."id" = t4$."target_key" OFFSET 0) t3$ ON true
WHERE t4$."owner_id" = t1$."id") AS "count") r$) AS "tags", (SELECT coalesce(json_agg(r$), '[]')
FROM (SELECT t5$."id" AS "id", t5$."document_id" AS "documentId", t5$."name" AS "name"
FROM "articles_gallery_links" t6$
JOIN LATERAL (SELECT t5$.*
FROM "plinth_files" t5$
WHERE t5$."id" = t6$."target_key" OFFSET 0) t5$ ON true
WHERE (t6$."owner_key" = t1$."document_key" AND t6$."owner_status" = t1$."status")
ORDER BY t6$."position", t5$."id") r$) AS "gallery", (SELECT coalesce(json_agg(r$), '[]')
FROM (SELECT t7$."id" AS "id", t7$."document_id" AS "documentId", t7$."title" AS "title"
FROM "articles" t7$
WHERE (t7$."document_key" = t1$."document_key" AND t7$."status" >= 'published' AND t7$."locale" <> t1$."locale")
ORDER BY t7$."id") r$) AS "localizations"
FROM (SELECT t1$.*
FROM "articles" t1$
WHERE (t1$."document_id" = $1::text AND t1$."status" = 'published' AND t1$."locale" = $2::text)) t1$) r$

["abc","en"]
