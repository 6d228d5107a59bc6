SELECT (SELECT '[' || coalesce(string_agg(row_to_json(r$)::text, ','), '') || ']'
FROM (SELECT t1$."id" AS "id", t1$."document_id" AS "documentId", t1$."name" AS "name"
FROM (SELECT t1$.*
FROM "authors" t1$
WHERE ((plinth_fold(t1$."name") LIKE plinth_fold($1::text) AND t1$."name" LIKE $2::text AND t1$."name" LIKE $3::text AND t1$."name" <> ALL ($4::text[])) AND plinth_fold(t1$."email") <> plinth_fold($5::text))
ORDER BY t1$."id" LIMIT $6::integer) t1$) r$), (SELECT count(*) AS "total"
FROM "authors" t1$
WHERE ((plinth_fold(t1$."name") LIKE plinth_fold($7::text) AND t1$."name" LIKE $8::text AND t1$."name" LIKE $9::text AND t1$."name" <> ALL ($10::text[])) AND plinth_fold(t1$."email") <> plinth_fold($11::text)))

["%50\\%\\_%","50%","%\\\\",["b","c"],"X",25,"%50\\%\\_%","50%","%\\\\",["b","c"],"X"]
