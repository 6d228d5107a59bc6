SELECT (SELECT '[' || coalesce(string_agg(row_to_json(r$)::text, ','), '') || ']'
FROM (SELECT t1$."id" AS "id", t1$."document_id" AS "documentId", t1$."title" AS "title"
FROM (SELECT t1$.*
FROM "articles" t1$
WHERE (t1$."status" = 'published' AND t1$."locale" = $1::text)
ORDER BY (SELECT t2$."weight" AS "key"
FROM "articles_tags_links" t3$
JOIN LATERAL (SELECT t2$.*
FROM "tags" t2$
WHERE t2$."id" = t3$."target_key" OFFSET 0) t2$ ON true
WHERE t3$."owner_id" = t1$."id"
ORDER BY 1 DESC LIMIT 1) DESC, (SELECT t4$."label" AS "key"
FROM "components_shared_link" t4$
WHERE (t4$."owner" = 'article.links' AND t4$."owner_key" = t1$."document_key" AND t4$."status" = t1$."status")
ORDER BY 1 LIMIT 1), t1$."id" LIMIT $2::integer) t1$) r$), (SELECT count(*) AS "total"
FROM "articles" t1$
WHERE (t1$."status" = 'published' AND t1$."locale" = $3::text))

["en",25,"en"]
