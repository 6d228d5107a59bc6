/** Documents of the types that have most of them. */
const DOCUMENTS = 100_000

/** The number of articles in the first category: a long list. */
const LONG_LIST = 10_000

const STAMPS = 'created_at, updated_at, published_at'
const STAMPED = `now() - i * interval '1 second', now() - i * interval '1 second', now() - i * interval '1 second'`
const SERIES = `generate_series(1, ${DOCUMENTS}) AS i`

const plain = (table: string, columns: string, values: string): string =>
  `INSERT INTO ${table} (document_id, ${columns}, ${STAMPS}) SELECT '${table}' || i, ${values}, ${STAMPED} FROM ${SERIES}`

const VERSIONS = `${SERIES}, (VALUES ('draft'), ('published')) AS s (status)`

/** A link of each row of articles: the target's key as an expression over `a`. */
const linked = (table: string, columns: string, values: string): string =>
  `INSERT INTO ${table} (owner_id, target_key, position${columns}) SELECT a.id, ${values} FROM articles AS a`

const components = (table: string, columns: string, values: string): string =>
  `INSERT INTO ${table} (id, status, owner, owner_key, position, ${columns})
   SELECT i, s.status, ${values} FROM ${VERSIONS}`

/** Rows for the tables of project.yaml, as Plinth itself would have written them. */
export const FILL: readonly string[] = [
  plain('profiles', 'text', `'profile ' || i`),
  plain('authors', 'name, profile_key', `'author ' || i, i`),
  plain('categories', 'name, slug', `'category ' || i, 'category-' || i`),
  plain(
    'notes',
    'text, code, article_key, article_draft_key, article_inverse_position',
    `'note ' || i, 'code-' || i, i, i, 1024 * i`,
  ),
  plain(
    'plinth_files',
    'name, hash, ext, mime, size, url, provider',
    `'file' || i || '.txt', 'hash_' || i, '.txt', 'text/plain', 1, '/uploads/hash_' || i || '.txt', 'local'`,
  ),
  plain(
    'plinth_users',
    'username, email, provider, password, confirmed, blocked, role_key, role_inverse_position',
    `'user' || i, 'user' || i || '@example.com', 'local', 'none', true, false, (SELECT id FROM plinth_roles WHERE type = 'editor'), 1024 * i`,
  ),
  `INSERT INTO articles (document_id, document_key, status, title, slug, rating, day, author_key, author_inverse_position, cover_key, ${STAMPS})
   SELECT 'articles' || i, i, s.status, 'article ' || i, 'article-' || i, i % 1000, date '2020-01-01' + i % 2000, 1 + i % ${DOCUMENTS / 10}, 1024 * i, i,
   now() - i * interval '1 second', now() - i * interval '1 second', now() - i * interval '1 second' FROM ${VERSIONS}`,
  `INSERT INTO pages (document_id, document_key, status, locale, title, slug, weight, parent_key, parent_inverse_position, shared_updated_at, ${STAMPS})
   SELECT 'pages' || i, i, s.status, l.locale, 'page ' || l.locale || i, 'page-' || i, i % 100, 1 + i / 10, 1024 * i, now(), ${STAMPED}
   FROM ${VERSIONS.replace(String(DOCUMENTS), String(DOCUMENTS / 2))}, (VALUES ('en'), ('fr')) AS l (locale)`,
  linked(
    'articles_categories_links',
    ', inverse_position',
    `2 + a.document_key % ${DOCUMENTS / 10}, 1024, 1024 * a.document_key`,
  ),
  `${linked('articles_categories_links', ', inverse_position', '1, 2048, 1024 * a.document_key')} WHERE document_key <= ${LONG_LIST}`,
  linked('articles_related_links', '', `1 + (a.document_key * 7) % ${DOCUMENTS}, 1024`),
  linked('articles_gallery_links', '', `a.document_key, 1024`),
  components('components_shared_seo', 'title, image_key', `'article.seo', i, 1, 'seo ' || i, i`),
  components('components_shared_quote', 'text, note_key', `'article.blocks', i, 1, 'quote ' || i, i`),
  `INSERT INTO components_shared_seo_articles_links (owner_id, owner_status, target_key, position)
   SELECT id, status, owner_key, 1024 FROM components_shared_seo`,
  `INSERT INTO notes_articles_links (owner_id, target_key, target_status, position)
   SELECT n.id, n.id, s.status, 1024 FROM notes AS n, (VALUES ('draft'), ('published')) AS s (status)`,
  `INSERT INTO plinth_outbox (listener, content_type, document_id, action, written_at, due_at, state, attempts)
   SELECT 'absent', 'api::note.note', 'notes' || i, 'update', now(), now() + interval '1 day', 'waiting', 0 FROM ${SERIES}`,
  `INSERT INTO plinth_rate_limits (key, requests, ends_at) SELECT 'k' || i, 1, now() + interval '1 hour' FROM ${SERIES}`,
  `INSERT INTO plinth_content (content_type, document_id, digest, written_at)
   SELECT 'api::note.note', 'notes' || i, 'd', now() FROM ${SERIES}`,
  `SELECT setval(pg_get_serial_sequence('components_shared_seo', 'id'), ${DOCUMENTS}), setval(pg_get_serial_sequence('components_shared_quote', 'id'), ${DOCUMENTS})`,
]
