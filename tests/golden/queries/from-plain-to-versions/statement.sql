SELECT (SELECT '[' || coalesce(string_agg(row_to_json(r$)::text, ','), '') || ']'
FROM (SELECT t1$."id" AS "id", t1$."document_id" AS "documentId", t1$."name" AS "name", (SELECT row_to_json(r$)
FROM (SELECT t2$."id" AS "id", t2$."document_id" AS "documentId", t2$."title" AS "title"
FROM "articles" t2$
WHERE (t2$."document_key" = t1$."best_key" AND t2$."status" >= 'published' AND t2$."locale" = t1$."best_locale")) r$) AS "best", (SELECT coalesce(json_agg(r$), '[]')
FROM (SELECT t3$."id" AS "id", t3$."document_id" AS "documentId", t3$."title" AS "title"
FROM "shelves_holds_links" t4$
JOIN LATERAL (SELECT t3$.*
FROM "articles" t3$
WHERE (t3$."document_key" = t4$."target_key" AND t3$."status" >= 'published' AND t3$."locale" = t4$."target_locale") OFFSET 0) t3$ ON true
WHERE (t4$."owner_id" = t1$."id" AND t4$."target_status" = 'published')
ORDER BY t4$."position", t3$."id") r$) AS "holds"
FROM (SELECT t1$.*
FROM "shelves" t1$
ORDER BY t1$."id" LIMIT 25) t1$) r$), (SELECT count(*) AS "total"
FROM "shelves" t1$)

[]
