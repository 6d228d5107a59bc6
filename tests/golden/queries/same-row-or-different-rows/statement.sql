SELECT (SELECT '[' || coalesce(string_agg(row_to_json(r$)::text, ','), '') || ']'
FROM (SELECT t1$."id" AS "id", t1$."document_id" AS "documentId", t1$."title" AS "title"
FROM (SELECT t1$.*
FROM "articles" t1$
WHERE (t1$."status" = 'published' AND t1$."locale" = $1::text AND (EXISTS (SELECT 1 AS "one"
FROM "articles_tags_links" t3$
JOIN "tags" t2$ ON t2$."id" = t3$."target_key"
WHERE (t3$."owner_id" = t1$."id" AND (t2$."name" = $2::text AND t2$."weight" = $3::integer))) AND EXISTS (SELECT 1 AS "one"
FROM "articles_tags_links" t5$
JOIN "tags" t4$ ON t4$."id" = t5$."target_key"
WHERE (t5$."owner_id" = t1$."id" AND t4$."name" = $4::text))))
ORDER BY t1$."id" LIMIT $5::integer) t1$) r$), (SELECT count(*) AS "total"
FROM "articles" t1$
WHERE (t1$."status" = 'published' AND t1$."locale" = $6::text AND (EXISTS (SELECT 1 AS "one"
FROM "articles_tags_links" t3$
JOIN "tags" t2$ ON t2$."id" = t3$."target_key"
WHERE (t3$."owner_id" = t1$."id" AND (t2$."name" = $7::text AND t2$."weight" = $8::integer))) AND EXISTS (SELECT 1 AS "one"
FROM "articles_tags_links" t5$
JOIN "tags" t4$ ON t4$."id" = t5$."target_key"
WHERE (t5$."owner_id" = t1$."id" AND t4$."name" = $9::text)))))

["en","a",1,"b",25,"en","a",1,"b"]
