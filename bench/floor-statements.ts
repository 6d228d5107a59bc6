// SQL written by hand for the very tables that Plinth made. PostgreSQL builds the JSON, which measured faster than
// rows made into it by Node; a write is one statement, and so one transaction and one round trip.

const STAMP = (column: string): string =>
  `to_char(${column} AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`

const ARTICLE = `'id', a.id, 'documentId', a.document_id, 'title', a.title, 'slug', a.slug, 'excerpt', a.excerpt,
  'body', a.body, 'rating', a.rating, 'price', a.price, 'day', a.day, 'featured', a.featured, 'kind', a.kind,
  'createdAt', ${STAMP('a.created_at')}, 'updatedAt', ${STAMP('a.updated_at')}, 'publishedAt', ${STAMP('a.published_at')}`

const AUTHOR = `(SELECT json_build_object('id', u.id, 'documentId', u.document_id, 'name', u.name, 'bio', u.bio,
    'createdAt', ${STAMP('u.created_at')}, 'updatedAt', ${STAMP('u.updated_at')}, 'publishedAt', ${STAMP('u.published_at')})
  FROM authors u WHERE u.id = a.author_key)`

const CATEGORIES = `(SELECT coalesce(json_agg(json_build_object('id', c.id, 'documentId', c.document_id, 'name', c.name,
    'slug', c.slug, 'createdAt', ${STAMP('c.created_at')}, 'updatedAt', ${STAMP('c.updated_at')},
    'publishedAt', ${STAMP('c.published_at')}) ORDER BY l.position, l.id), '[]')
  FROM articles_categories_links l JOIN categories c ON c.id = l.target_key WHERE l.owner_id = a.id)`

const PAGE = `FROM (SELECT * FROM articles WHERE status = 'published' ORDER BY id LIMIT 25 OFFSET $1) a`
const TOTAL = `(SELECT count(*) FROM articles WHERE status = 'published')::int AS total`

/** A category that is not there leaves a NULL, which its column refuses. */
const WANTED = (list: string): string => `wanted AS (
    SELECT n.place, (SELECT id FROM categories c WHERE c.document_id = n.id) AS key
    FROM unnest(${list}::text[]) WITH ORDINALITY AS n (id, place))`

/** Both versions' rows and their links; no row where there is no such author. */
const CREATE = `WITH ids AS MATERIALIZED (
    SELECT nextval('articles_id_seq') AS draft, nextval('articles_id_seq') AS published, now() AS moment
  ), made AS (
    INSERT INTO articles (id, document_id, document_key, status, created_at, updated_at, published_at, title, slug,
      excerpt, body, rating, price, day, featured, kind, author_key, author_inverse_position)
    OVERRIDING SYSTEM VALUE
    SELECT v.id, $1, ids.draft, v.status, moment, moment, CASE v.status WHEN 'published' THEN moment END, $2, $3,
      $4, $5, $6, $7, $8, $9, $10, u.id, ids.draft * 1024
    FROM ids, authors u, LATERAL (VALUES ('draft', ids.draft), ('published', ids.published)) AS v (status, id)
    WHERE u.document_id = $11
    RETURNING *
  ), ${WANTED('$12')}, linked AS (
    INSERT INTO articles_categories_links (owner_id, target_key, position, inverse_position)
    SELECT a.id, w.key, w.place * 1024, a.document_key * 1024 FROM made a, wanted w ORDER BY a.id, w.place
  )
  SELECT json_build_object(${ARTICLE})::text AS json FROM made a WHERE status = 'published'`

const UPDATE = `WITH made AS (
    UPDATE articles SET title = $2, rating = $3, updated_at = now(),
      published_at = CASE status WHEN 'published' THEN now() END
    WHERE document_id = $1
    RETURNING *
  ), ${WANTED('$4')}, gone AS (
    DELETE FROM articles_categories_links l USING made a
    WHERE l.owner_id = a.id AND l.target_key NOT IN (SELECT key FROM wanted)
  ), linked AS (
    INSERT INTO articles_categories_links AS l (owner_id, target_key, position, inverse_position)
    SELECT a.id, w.key, w.place * 1024, a.document_key * 1024 FROM made a, wanted w ORDER BY a.id, w.place
    ON CONFLICT (owner_id, target_key) DO UPDATE SET position = excluded.position
      WHERE l.position <> excluded.position
  )
  SELECT json_build_object(${ARTICLE})::text AS json FROM made a WHERE status = 'published'`

const FIELDS = `WITH made AS (
    UPDATE articles SET title = $2, rating = $3, updated_at = now(),
      published_at = CASE status WHEN 'published' THEN now() END
    WHERE document_id = $1
    RETURNING *
  )
  SELECT json_build_object(${ARTICLE})::text AS json FROM made a WHERE status = 'published'`

/** All specs are new ones, as no id names one that is there. */
const PRODUCT = `WITH made AS (
    UPDATE products SET name = $2, rating = $3, updated_at = now(),
      published_at = CASE status WHEN 'published' THEN now() END
    WHERE document_id = $1
    RETURNING *
  ), ${WANTED('$4')}, gone AS (
    DELETE FROM products_categories_links l USING made p
    WHERE l.owner_id = p.id AND l.target_key NOT IN (SELECT key FROM wanted)
  ), linked AS (
    INSERT INTO products_categories_links AS l (owner_id, target_key, position)
    SELECT p.id, w.key, w.place * 1024 FROM made p, wanted w ORDER BY p.id, w.place
    ON CONFLICT (owner_id, target_key) DO UPDATE SET position = excluded.position
      WHERE l.position <> excluded.position
  ), dropped AS (
    DELETE FROM components_part_spec s USING made p
    WHERE s.owner = 'product.specs' AND s.owner_key = p.document_key AND s.status = p.status
  ), specs AS MATERIALIZED (
    SELECT nextval('components_part_spec_id_seq') AS id, s.place, s.name, s.value
    FROM unnest($5::text[], $6::text[]) WITH ORDINALITY AS s (name, value, place)
  ), added AS (
    INSERT INTO components_part_spec (id, status, owner, owner_key, position, name, value) OVERRIDING SYSTEM VALUE
    SELECT s.id, p.status, 'product.specs', p.document_key, s.place * 1024, s.name, s.value FROM made p, specs s
  )
  SELECT json_build_object('id', p.id, 'documentId', p.document_id, 'name', p.name, 'rating', p.rating,
    'createdAt', ${STAMP('p.created_at')}, 'updatedAt', ${STAMP('p.updated_at')},
    'publishedAt', ${STAMP('p.published_at')})::text AS json FROM made p WHERE status = 'published'`

/** The draft as a published version that is not there yet, with its links. */
const PUBLISH = `WITH d AS (
    UPDATE articles SET updated_at = now() WHERE document_id = $1 AND status = 'draft' RETURNING *
  ), made AS (
    INSERT INTO articles (id, document_id, document_key, status, created_at, updated_at, published_at, title, slug,
      excerpt, body, rating, price, day, featured, kind, author_key, author_inverse_position)
    OVERRIDING SYSTEM VALUE
    SELECT nextval('articles_id_seq'), document_id, document_key, 'published', created_at, updated_at, updated_at, title,
      slug, excerpt, body, rating, price, day, featured, kind, author_key, author_inverse_position FROM d
    RETURNING *
  ), linked AS (
    INSERT INTO articles_categories_links (owner_id, target_key, position, inverse_position)
    SELECT made.id, l.target_key, l.position, l.inverse_position
    FROM made, d JOIN articles_categories_links l ON l.owner_id = d.id ORDER BY l.position, l.id
  )
  SELECT json_build_object(${ARTICLE})::text AS json FROM made a`

/** Links go with their rows. */
const UNPUBLISH = `WITH gone AS (
    DELETE FROM articles WHERE document_id = $1 AND status = 'published'
  )
  SELECT json_build_object('documentId', a.document_id, 'entries', json_build_array(json_build_object(${ARTICLE})))::text
    AS json
  FROM articles a WHERE document_id = $1 AND status = 'draft'`

const DELETE = `WITH gone AS (DELETE FROM articles WHERE document_id = $1 RETURNING id) SELECT count(*)::text AS json FROM gone`

/** The list with both relations in the format of GraphQL. */
const ENTITY = `json_build_object('id', a.document_id, 'attributes', json_build_object('title', a.title, 'slug', a.slug,
  'excerpt', a.excerpt, 'body', a.body, 'rating', a.rating, 'price', a.price, 'day', a.day, 'featured', a.featured,
  'kind', a.kind,
  'author', json_build_object('data', (SELECT json_build_object('id', u.document_id, 'attributes',
      json_build_object('name', u.name, 'bio', u.bio)) FROM authors u WHERE u.id = a.author_key)),
  'categories', json_build_object('data', (SELECT coalesce(json_agg(json_build_object('id', c.document_id, 'attributes',
      json_build_object('name', c.name, 'slug', c.slug)) ORDER BY l.position, l.id), '[]')
    FROM articles_categories_links l JOIN categories c ON c.id = l.target_key WHERE l.owner_id = a.id))))`

/** The same as rows of which a server makes that format itself. */
const NESTED_ROW = `json_build_object('documentId', a.document_id, 'title', a.title, 'slug', a.slug,
  'excerpt', a.excerpt, 'body', a.body, 'rating', a.rating, 'price', a.price, 'day', a.day, 'featured', a.featured,
  'kind', a.kind,
  'author', (SELECT json_build_object('documentId', u.document_id, 'name', u.name, 'bio', u.bio)
    FROM authors u WHERE u.id = a.author_key),
  'categories', (SELECT coalesce(json_agg(json_build_object('documentId', c.document_id, 'name', c.name, 'slug', c.slug)
      ORDER BY l.position, l.id), '[]')
    FROM articles_categories_links l JOIN categories c ON c.id = l.target_key WHERE l.owner_id = a.id))`

const PERSON = (key: string): string =>
  `(SELECT json_build_object('documentId', u.document_id, 'name', u.name, 'bio', u.bio) FROM authors u WHERE u.id = ${key})`

/** An article of a card. */
const TEASER = `json_build_object('documentId', a.document_id, 'title', a.title, 'slug', a.slug, 'excerpt', a.excerpt,
  'author', ${PERSON('a.author_key')},
  'categories', (SELECT coalesce(json_agg(json_build_object('documentId', c.document_id, 'name', c.name, 'slug', c.slug)
      ORDER BY l.position, l.id), '[]')
    FROM articles_categories_links l JOIN categories c ON c.id = l.target_key WHERE l.owner_id = a.id))`

const CARDS = `(SELECT coalesce(json_agg(json_build_object('title', c.title, 'text', c.text,
    'article', (SELECT ${TEASER} FROM articles a WHERE a.document_key = c.article_key AND a.status = 'published'))
    ORDER BY c.position), '[]')
  FROM components_part_card c WHERE c.owner = 'block.cards.cards' AND c.owner_key = b.id AND c.status = 'published')`

const BLOCKS = `(SELECT coalesce(json_agg(n.json ORDER BY n.position), '[]') FROM (
    SELECT b.position, json_build_object('__typename', 'ComponentBlockText', 'heading', b.heading, 'body', b.body,
      'author', ${PERSON('b.author_key')}) AS json
    FROM components_block_text b WHERE b.owner = 'page.blocks' AND b.owner_key = p.id AND b.status = 'published'
    UNION ALL
    SELECT b.position, json_build_object('__typename', 'ComponentBlockCards', 'heading', b.heading, 'cards', ${CARDS})
    FROM components_block_cards b WHERE b.owner = 'page.blocks' AND b.owner_key = p.id AND b.status = 'published') n)`

export const STATEMENTS = {
  page: `SELECT json_build_object('documentId', p.document_id, 'title', p.title, 'blocks', ${BLOCKS})::text AS json
    FROM pages p WHERE p.document_id = $1`,
  one: `SELECT json_build_object(${ARTICLE})::text AS json FROM articles a WHERE document_id = $1 AND status = 'published'`,
  list: `SELECT coalesce(json_agg(json_build_object(${ARTICLE}) ORDER BY a.id), '[]')::text AS json, ${TOTAL} ${PAGE}`,
  populate: `SELECT coalesce(json_agg(json_build_object(${ARTICLE}, 'author', ${AUTHOR}, 'categories', ${CATEGORIES})
    ORDER BY a.id), '[]')::text AS json, ${TOTAL} ${PAGE}`,
  nested: `SELECT coalesce(json_agg(${ENTITY} ORDER BY a.id), '[]')::text AS json, ${TOTAL} ${PAGE}`,
  rows: `SELECT coalesce(json_agg(${NESTED_ROW} ORDER BY a.id), '[]')::text AS json, ${TOTAL} ${PAGE}`,
  create: CREATE,
  update: UPDATE,
  fields: FIELDS,
  product: PRODUCT,
  publish: PUBLISH,
  unpublish: UNPUBLISH,
  delete: DELETE,
} as const
