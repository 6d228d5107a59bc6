SELECT (WITH page$ AS MATERIALIZED (SELECT t1$.*
FROM "articles" t1$
WHERE (t1$."status" = 'published' AND t1$."locale" = $1::text AND EXISTS (SELECT 1 AS "one"
FROM "articles_tags_links" t5$
JOIN "tags" t4$ ON t4$."id" = t5$."target_key"
WHERE (t5$."owner_id" = t1$."id" AND t5$."owner_id" > $2::integer AND t4$."name" = $3::text)) AND (t1$."id") > ($4::integer))
ORDER BY t1$."id" LIMIT $5::integer + 1) SELECT '[' || coalesce(string_agg(row_to_json(r$)::text, ','), '') || ']' || '' || (SELECT coalesce(json_agg(r$), '[]')
FROM (SELECT t1$."id" AS "id"
FROM (SELECT t1$.*
FROM page$ t1$ LIMIT 2 OFFSET $7::integer + -1) t1$) r$)::text
FROM (SELECT t1$."id" AS "id", t1$."document_id" AS "documentId", t1$."title" AS "title"
FROM (SELECT t1$.*
FROM page$ t1$ LIMIT $6::integer) t1$) r$), (SELECT count(*) AS "total"
FROM "articles" t1$
WHERE (t1$."status" = 'published' AND t1$."locale" = $8::text AND EXISTS (SELECT 1 AS "one"
FROM "articles_tags_links" t3$
JOIN "tags" t2$ ON t2$."id" = t3$."target_key"
WHERE (t3$."owner_id" = t1$."id" AND t2$."name" = $9::text))))

["en",41,"news",41,25,25,25,"en","news"]
