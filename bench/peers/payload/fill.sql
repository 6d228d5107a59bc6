-- What bench/seed.sql has, in Payload's tables: an article's last version lies beside it.
INSERT INTO authors (id, name, bio)
SELECT n, 'Author ' || n, repeat('A life in one sentence. ', 5) FROM generate_series(1, 100) AS n;

INSERT INTO categories (id, name, slug)
SELECT n, 'Category ' || n, 'category-' || n FROM generate_series(1, 30) AS n;

INSERT INTO articles (id, title, slug, excerpt, body, rating, price, day, featured, kind, author_id, _status)
SELECT n, 'Article number ' || n, 'article-number-' || n, 'What article ' || n || ' is about, in a line or two of text.',
  repeat('A paragraph of body text, as long as such things are. ', 20), n % 11, n % 100 + 0.5,
  date '2024-01-01' + n % 365, n % 7 = 0,
  (ARRAY['news', 'opinion', 'review'])[n % 3 + 1]::enum_articles_kind, n % 100 + 1, 'published'
FROM generate_series(1, :articles) AS n;

INSERT INTO articles_rels ("order", parent_id, path, categories_id)
SELECT place, n, 'categories', (n + 10 * place) % 30 + 1
FROM generate_series(1, :articles) AS n, generate_series(1, 3) AS place
ORDER BY n, place;

INSERT INTO _articles_v (id, parent_id, version_title, version_slug, version_excerpt, version_body, version_rating,
  version_price, version_day, version_featured, version_kind, version_author_id, version__status,
  version_created_at, version_updated_at, latest)
SELECT id, id, title, slug, excerpt, body, rating, price, day, featured, kind::text::enum__articles_v_version_kind,
  author_id, 'published', created_at, updated_at, true
FROM articles ORDER BY id;

INSERT INTO _articles_v_rels ("order", parent_id, path, categories_id)
SELECT "order", parent_id, 'version.categories', categories_id FROM articles_rels ORDER BY id;

SELECT setval(pg_get_serial_sequence('authors', 'id'), 100), setval(pg_get_serial_sequence('categories', 'id'), 30),
  setval(pg_get_serial_sequence('articles', 'id'), :articles),
  setval(pg_get_serial_sequence('_articles_v', 'id'), :articles);

VACUUM ANALYZE;
