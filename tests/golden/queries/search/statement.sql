SELECT (SELECT '[' || coalesce(string_agg(row_to_json(r$)::text, ','), '') || ']'
FROM (SELECT t1$."id" AS "id", t1$."document_id" AS "documentId", t1$."name" AS "name"
FROM (SELECT t1$.*
FROM "authors" t1$
WHERE (plinth_fold(t1$."document_id") LIKE plinth_fold($1::text) OR plinth_fold(t1$."name") LIKE plinth_fold($2::text) OR plinth_fold(t1$."email") LIKE plinth_fold($3::text))
ORDER BY t1$."id" LIMIT $4::integer) t1$) r$), (SELECT count(*) AS "total"
FROM "authors" t1$
WHERE (plinth_fold(t1$."document_id") LIKE plinth_fold($5::text) OR plinth_fold(t1$."name") LIKE plinth_fold($6::text) OR plinth_fold(t1$."email") LIKE plinth_fold($7::text)))

["%a\\_b%","%a\\_b%","%a\\_b%",25,"%a\\_b%","%a\\_b%","%a\\_b%"]
