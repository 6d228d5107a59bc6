-- 1,000 published products with drafts, in three categories each and with three specs.
INSERT INTO products (id, document_id, document_key, status, created_at, updated_at, published_at, name, rating)
OVERRIDING SYSTEM VALUE
SELECT 2 * n - 1 + later, 'product-' || n, 2 * n - 1, version.status, now(), now(),
  CASE version.status WHEN 'published' THEN now() END, 'Product number ' || n, n % 11
FROM generate_series(1, 1000) AS n, (VALUES ('draft', 0), ('published', 1)) AS version (status, later)
ORDER BY n, later;

INSERT INTO products_categories_links (owner_id, target_key, position)
SELECT row, ((row + 1) / 2 + 10 * place) % 30 + 1, 1024 * place
FROM generate_series(1, 2000) AS row, generate_series(1, 3) AS place;

INSERT INTO components_part_spec (id, status, owner, owner_key, position, name, value) OVERRIDING SYSTEM VALUE
SELECT 3 * n + spec, version.status, 'product.specs', 2 * n - 1, 1024 * spec, 'Spec ' || spec, 'Value ' || n
FROM generate_series(1, 1000) AS n, generate_series(1, 3) AS spec, (VALUES ('draft'), ('published')) AS version (status);

SELECT setval(pg_get_serial_sequence('products', 'id'), 2000), setval(pg_get_serial_sequence('components_part_spec', 'id'), 4000);

VACUUM ANALYZE products, products_categories_links, components_part_spec;
