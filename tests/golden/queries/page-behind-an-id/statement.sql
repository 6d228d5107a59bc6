WITH page$ AS MATERIALIZED (SELECT t1$.*
FROM "tags" t1$
WHERE (EXISTS (SELECT 1 AS "one"
FROM "articles_tags_links" t5$
JOIN "articles" t4$ ON t4$."id" = t5$."owner_id"
WHERE (t5$."target_key" = t1$."id" AND t5$."target_key" <= $1::integer AND t4$."status" = 'published' AND t4$."title" <> $2::text)) AND (t1$."id" <= $3::integer AND (t1$."id" < $4::integer OR (t1$."id" = $5::integer AND t1$."id" > $6::integer))))
ORDER BY t1$."id" DESC, t1$."id" LIMIT $7::integer + 1) SELECT '[' || coalesce(string_agg(row_to_json(r$)::text, ','), '') || ']' || '' || (SELECT coalesce(json_agg(r$), '[]')
FROM (SELECT t1$."id" AS "k0", t1$."id" AS "id"
FROM (SELECT t1$.*
FROM page$ t1$ LIMIT 2 OFFSET $9::integer + -1) t1$) r$)::text
FROM (SELECT t1$."id" AS "id", t1$."document_id" AS "documentId", t1$."name" AS "name"
FROM (SELECT t1$.*
FROM page$ t1$ LIMIT $8::integer) t1$) r$

[41,"x",41,41,41,41,25,25,25]
