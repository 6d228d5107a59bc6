SELECT (SELECT '[' || coalesce(string_agg(row_to_json(r)::text, ','), '') || ']'
FROM (SELECT t1."id" AS "id", t1."document_id" AS "documentId", t1."name" AS "name"
FROM (SELECT t1.*
FROM "authors" t1
WHERE ((plinth_fold(t1."name") LIKE plinth_fold($1::text) AND t1."name" LIKE $2::text AND t1."name" <> ALL ($3::text[])) AND plinth_fold(t1."email") <> plinth_fold($4::text))
ORDER BY t1."id" LIMIT $5::integer) t1) r), (SELECT count(*) AS "total"
FROM "authors" t1
WHERE ((plinth_fold(t1."name") LIKE plinth_fold($6::text) AND t1."name" LIKE $7::text AND t1."name" <> ALL ($8::text[])) AND plinth_fold(t1."email") <> plinth_fold($9::text)))

["%50\\%\\_%","a\\\\%",["b","c"],"X",25,"%50\\%\\_%","a\\\\%",["b","c"],"X"]
