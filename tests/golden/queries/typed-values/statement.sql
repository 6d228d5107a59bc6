SELECT (SELECT '[' || coalesce(string_agg(row_to_json(r$)::text, ','), '') || ']'
FROM (SELECT t1$."id" AS "id", t1$."document_id" AS "documentId", t1$."title" AS "title"
FROM (SELECT t1$.*
FROM "articles" t1$
WHERE (t1$."status" = 'published' AND t1$."locale" = $1::text AND (t1$."views" >= $2::bigint AND (t1$."price" >= $3::numeric AND t1$."price" <= $4::numeric) AND t1$."at" < $5::timestamptz AND t1$."meta" = $6::jsonb))
ORDER BY t1$."id" LIMIT $7::integer) t1$) r$), (SELECT count(*) AS "total"
FROM "articles" t1$
WHERE (t1$."status" = 'published' AND t1$."locale" = $8::text AND (t1$."views" >= $9::bigint AND (t1$."price" >= $10::numeric AND t1$."price" <= $11::numeric) AND t1$."at" < $12::timestamptz AND t1$."meta" = $13::jsonb)))

["en","9007199254740993",1.5,2,"2024-01-01T00:00:00.000Z","{\"a\":1}",25,"en","9007199254740993",1.5,2,"2024-01-01T00:00:00.000Z","{\"a\":1}"]
