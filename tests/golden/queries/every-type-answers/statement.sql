SELECT '[' || coalesce(string_agg(row_to_json(r$)::text, ','), '') || ']'
FROM (SELECT t1$."id" AS "id", t1$."document_id" AS "documentId", t1$."title" AS "title", (t1$."views")::text AS "views", t1$."price" AS "price", to_char((t1$."at" AT TIME ZONE 'UTC'), 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') AS "at", ((extract(epoch
FROM t1$."stamp") * 1000)::bigint)::text AS "stamp", t1$."meta" AS "meta", to_char((t1$."created_at" AT TIME ZONE 'UTC'), 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') AS "createdAt", to_char((greatest(t1$."updated_at", t1$."shared_updated_at") AT TIME ZONE 'UTC'), 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') AS "updatedAt", to_char((t1$."published_at" AT TIME ZONE 'UTC'), 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') AS "publishedAt", t1$."locale" AS "locale"
FROM (SELECT t1$.*
FROM "articles" t1$
WHERE (t1$."status" = 'published' AND t1$."locale" = $1::text)
ORDER BY t1$."id" LIMIT $2::integer) t1$) r$

["en",25]
