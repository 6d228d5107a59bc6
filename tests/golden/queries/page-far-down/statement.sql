SELECT '[' || coalesce(string_agg(row_to_json(r$)::text, ','), '') || ']'
FROM (SELECT t1$."id" AS "id", t1$."document_id" AS "documentId", t1$."title" AS "title"
FROM (SELECT t1$.*
FROM "articles" t1$
WHERE t1$.id = ANY (ARRAY(SELECT t1$.id
FROM "articles" t1$
WHERE (t1$."status" = 'published' AND t1$."locale" = $1::text AND EXISTS (SELECT 1 AS "one"
FROM "articles_tags_links" t3$
JOIN "tags" t2$ ON t2$."id" = t3$."target_key"
WHERE (t3$."owner_id" = t1$."id" AND t2$."name" = $2::text)))
ORDER BY (SELECT t4$."name" AS "key"
FROM "authors" t4$
WHERE t4$."id" = t1$."author_key"
ORDER BY 1 DESC LIMIT 1) DESC, t1$."title", t1$."id" LIMIT $3::integer OFFSET $4::integer))
ORDER BY (SELECT t4$."name" AS "key"
FROM "authors" t4$
WHERE t4$."id" = t1$."author_key"
ORDER BY 1 DESC LIMIT 1) DESC, t1$."title", t1$."id") t1$) r$

["en","news",10,1000]
