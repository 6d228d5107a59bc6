SELECT (SELECT '[' || coalesce(string_agg(row_to_json(r$)::text, ','), '') || ']'
FROM (SELECT t1$."id" AS "id", t1$."document_id" AS "documentId", t1$."title" AS "title"
FROM (SELECT t1$.*
FROM "articles" t1$
WHERE (t1$."status" = 'draft' AND t1$."locale" = $1::text AND (EXISTS (SELECT 1 AS "one"
FROM "articles" t2$
WHERE (t2$."document_key" = t1$."document_key" AND t2$."status" = 'draft' AND t2$."locale" = t1$."locale")) AND EXISTS (SELECT 1 AS "one"
FROM "articles" t3$
WHERE (t3$."document_key" = t1$."document_key" AND t3$."status" = 'published' AND t3$."locale" = t1$."locale")) AND (EXISTS (SELECT 1 AS "one"
FROM "articles" t4$
WHERE (t4$."document_key" = t1$."document_key" AND t4$."status" = 'draft' AND t4$."locale" = t1$."locale" AND (t4$."updated_at" IS DISTINCT
FROM t1$."updated_at" OR t4$."shared_updated_at" IS DISTINCT
FROM t1$."shared_updated_at"))) OR EXISTS (SELECT 1 AS "one"
FROM "articles" t5$
WHERE (t5$."document_key" = t1$."document_key" AND t5$."status" = 'published' AND t5$."locale" = t1$."locale" AND (t5$."updated_at" IS DISTINCT
FROM t1$."updated_at" OR t5$."shared_updated_at" IS DISTINCT
FROM t1$."shared_updated_at"))))))
ORDER BY t1$."id" LIMIT $2::integer) t1$) r$), (SELECT count(*) AS "total"
FROM "articles" t1$
WHERE (t1$."status" = 'draft' AND t1$."locale" = $3::text AND (EXISTS (SELECT 1 AS "one"
FROM "articles" t2$
WHERE (t2$."document_key" = t1$."document_key" AND t2$."status" = 'draft' AND t2$."locale" = t1$."locale")) AND EXISTS (SELECT 1 AS "one"
FROM "articles" t3$
WHERE (t3$."document_key" = t1$."document_key" AND t3$."status" = 'published' AND t3$."locale" = t1$."locale")) AND (EXISTS (SELECT 1 AS "one"
FROM "articles" t4$
WHERE (t4$."document_key" = t1$."document_key" AND t4$."status" = 'draft' AND t4$."locale" = t1$."locale" AND (t4$."updated_at" IS DISTINCT
FROM t1$."updated_at" OR t4$."shared_updated_at" IS DISTINCT
FROM t1$."shared_updated_at"))) OR EXISTS (SELECT 1 AS "one"
FROM "articles" t5$
WHERE (t5$."document_key" = t1$."document_key" AND t5$."status" = 'published' AND t5$."locale" = t1$."locale" AND (t5$."updated_at" IS DISTINCT
FROM t1$."updated_at" OR t5$."shared_updated_at" IS DISTINCT
FROM t1$."shared_updated_at")))))))

["en",25,"en"]
