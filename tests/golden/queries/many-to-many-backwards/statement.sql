SELECT (SELECT '[' || coalesce(string_agg(row_to_json(r$)::text, ','), '') || ']'
FROM (SELECT t1$."id" AS "id", t1$."document_id" AS "documentId", t1$."name" AS "name", (SELECT coalesce(json_agg(r$), '[]')
FROM (SELECT t4$."id" AS "id", t4$."document_id" AS "documentId", t4$."title" AS "title"
FROM "articles_tags_links" t5$
JOIN LATERAL (SELECT t4$.*
FROM "articles" t4$
WHERE (t4$."id" = t5$."owner_id" AND t4$."status" >= 'published') OFFSET 0) t4$ ON true
WHERE t5$."target_key" = t1$."id"
ORDER BY t5$."inverse_position", t4$."id") r$) AS "articles"
FROM (SELECT t1$.*
FROM "tags" t1$
WHERE EXISTS (SELECT 1 AS "one"
FROM "articles_tags_links" t3$
JOIN "articles" t2$ ON t2$."id" = t3$."owner_id"
WHERE (t3$."target_key" = t1$."id" AND t2$."status" = 'published' AND t2$."title" = $1::text))
ORDER BY t1$."id" LIMIT $2::integer) t1$) r$), (SELECT count(*) AS "total"
FROM "tags" t1$
WHERE EXISTS (SELECT 1 AS "one"
FROM "articles_tags_links" t3$
JOIN "articles" t2$ ON t2$."id" = t3$."owner_id"
WHERE (t3$."target_key" = t1$."id" AND t2$."status" = 'published' AND t2$."title" = $3::text)))

["x",25,"x"]
