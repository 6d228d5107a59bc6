SELECT (SELECT '[' || coalesce(string_agg(row_to_json(r$)::text, ','), '') || ']'
FROM (SELECT t1$."id" AS "id", t1$."document_id" AS "documentId", t1$."title" AS "title"
FROM (SELECT t1$.*
FROM "articles" t1$
WHERE (t1$."status" = 'published' AND t1$."locale" = $1::text AND ((EXISTS (SELECT 1 AS "one"
FROM "articles_tags_links" t3$
JOIN "tags" t2$ ON t2$."id" = t3$."target_key"
WHERE (t3$."owner_id" = t1$."id" AND NOT (t2$."name" = $2::text))) OR EXISTS (SELECT 1 AS "one"
FROM "authors" t4$
WHERE (t4$."id" = t1$."author_key" AND NOT (t4$."name" LIKE $3::text)))) AND EXISTS (SELECT 1 AS "one"
FROM "authors" t5$
WHERE t5$."id" = t1$."author_key")))
ORDER BY t1$."id" LIMIT $4::integer) t1$) r$), (SELECT count(*) AS "total"
FROM "articles" t1$
WHERE (t1$."status" = 'published' AND t1$."locale" = $5::text AND ((EXISTS (SELECT 1 AS "one"
FROM "articles_tags_links" t3$
JOIN "tags" t2$ ON t2$."id" = t3$."target_key"
WHERE (t3$."owner_id" = t1$."id" AND NOT (t2$."name" = $6::text))) OR EXISTS (SELECT 1 AS "one"
FROM "authors" t4$
WHERE (t4$."id" = t1$."author_key" AND NOT (t4$."name" LIKE $7::text)))) AND EXISTS (SELECT 1 AS "one"
FROM "authors" t5$
WHERE t5$."id" = t1$."author_key"))))

["en","news","%zzz%",25,"en","news","%zzz%"]
