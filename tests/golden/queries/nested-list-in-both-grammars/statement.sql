SELECT (SELECT '[' || coalesce(string_agg(row_to_json(r$)::text, ','), '') || ']'
FROM (SELECT t1$."id" AS "id", t1$."document_id" AS "documentId", t1$."title" AS "title", (SELECT row_to_json(r$)
FROM (SELECT t6$."id" AS "id", t6$."document_id" AS "documentId", t6$."name" AS "name"
FROM "authors" t6$
WHERE t6$."id" = t1$."author_key") r$) AS "author", (SELECT coalesce(json_agg(r$), '[]')
FROM (SELECT t7$."id" AS "id", t7$."document_id" AS "documentId", t7$."title" AS "title"
FROM "articles_related_links" t8$
JOIN LATERAL (SELECT t7$.*
FROM "articles" t7$
WHERE (t7$."document_key" = t8$."target_key" AND t7$."status" >= 'published' AND t7$."locale" = t1$."locale") OFFSET 0) t7$ ON true
WHERE (t8$."owner_id" = t1$."id" AND t7$."views" > $1::bigint)
ORDER BY t7$."title", t7$."id") r$) AS "related"
FROM (SELECT t1$.*
FROM "articles" t1$
WHERE (t1$."status" = 'published' AND t1$."locale" = $2::text AND (t1$."title" LIKE $3::text AND (EXISTS (SELECT 1 AS "one"
FROM "authors" t2$
WHERE (t2$."id" = t1$."author_key" AND t2$."name" = $4::text)) OR (EXISTS (SELECT 1 AS "one"
FROM "authors" t3$
WHERE (t3$."id" = t1$."author_key" AND t3$."email" IS NULL)) OR NOT (EXISTS (SELECT 1 AS "one"
FROM "authors" t4$
WHERE t4$."id" = t1$."author_key"))))))
ORDER BY (SELECT t5$."name" AS "key"
FROM "authors" t5$
WHERE t5$."id" = t1$."author_key"
ORDER BY 1 DESC LIMIT 1) DESC, t1$."title", t1$."id" LIMIT $5::integer) t1$) r$), (SELECT count(*) AS "total"
FROM "articles" t1$
WHERE (t1$."status" = 'published' AND t1$."locale" = $6::text AND (t1$."title" LIKE $7::text AND (EXISTS (SELECT 1 AS "one"
FROM "authors" t2$
WHERE (t2$."id" = t1$."author_key" AND t2$."name" = $8::text)) OR (EXISTS (SELECT 1 AS "one"
FROM "authors" t3$
WHERE (t3$."id" = t1$."author_key" AND t3$."email" IS NULL)) OR NOT (EXISTS (SELECT 1 AS "one"
FROM "authors" t4$
WHERE t4$."id" = t1$."author_key")))))))

["3","en","A%","Ann",25,"en","A%","Ann"]
