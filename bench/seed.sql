-- So many published articles, each with its draft, by 100 authors, in three of 30 categories each.
INSERT INTO authors (id, document_id, created_at, updated_at, published_at, name, bio) OVERRIDING SYSTEM VALUE
SELECT n, 'author-' || n, now(), now(), now(), 'Author ' || n, repeat('A life in one sentence. ', 5)
FROM generate_series(1, 100) AS n;

INSERT INTO categories (id, document_id, created_at, updated_at, published_at, name, slug) OVERRIDING SYSTEM VALUE
SELECT n, 'category-' || n, now(), now(), now(), 'Category ' || n, 'category-' || n
FROM generate_series(1, 30) AS n;

INSERT INTO articles (id, document_id, document_key, status, created_at, updated_at, published_at,
  title, slug, excerpt, body, rating, price, day, featured, kind, author_key, author_inverse_position)
OVERRIDING SYSTEM VALUE
SELECT 2 * n - 1 + later, 'article-' || n, 2 * n - 1, version.status, now(), now(), CASE version.status WHEN 'published' THEN now() END,
  'Article number ' || n, 'article-number-' || n, 'What article ' || n || ' is about, in a line or two of text.',
  repeat('A paragraph of body text, as long as such things are. ', 20), n % 11, n % 100 + 0.5,
  date '2024-01-01' + n % 365, n % 7 = 0, (ARRAY['news', 'opinion', 'review'])[n % 3 + 1], n % 100 + 1, n
FROM generate_series(1, :articles) AS n, (VALUES ('draft', 0), ('published', 1)) AS version (status, later)
ORDER BY n, later;

INSERT INTO articles_categories_links (owner_id, target_key, position, inverse_position)
SELECT row, ((row + 1) / 2 + 10 * place) % 30 + 1, place, row
FROM generate_series(1, 2 * :articles) AS row, generate_series(1, 3) AS place;

SELECT setval(pg_get_serial_sequence('authors', 'id'), 100), setval(pg_get_serial_sequence('categories', 'id'), 30),
  setval(pg_get_serial_sequence('articles', 'id'), 2 * :articles);

VACUUM ANALYZE authors, categories, articles, articles_categories_links;
