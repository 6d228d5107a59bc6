import pg from 'pg'

/** Articles that an author has written. */
const OF_AUTHOR = 100

interface Growth {
  /** How many articles are there. */
  readonly from: number
  /** How many there are to be. */
  readonly to: number
}

/**
 * Grows the tables, which Plinth made. Foreign keys and triggers are left out, and indexes but the primary ones are
 * made again at the end: a million articles with their drafts take minutes instead of most of an hour.
 */
export async function grow(url: string, { from, to }: Growth): Promise<void> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    await client.query("SET session_replication_role = replica; SET maintenance_work_mem = '256MB'")
    if (from === 0) await client.query(GEOGRAPHY)
    const again = await dropIndexes(client)
    for (const statement of statements({ from, to })) await client.query(statement)
    for (const index of again) await client.query(index)
    for (const table of TABLES) await client.query(`VACUUM ANALYZE ${table}`)
  } finally {
    await client.end()
  }
}

const TABLES = [
  'continents',
  'countries',
  'cities',
  'authors',
  'categories',
  'articles',
  'articles_categories_links',
]

/** Drops what the grown tables have besides their primary keys; the statements that make it again. */
async function dropIndexes(client: pg.Client): Promise<readonly string[]> {
  const { rows } = await client.query<{ name: string; definition: string }>(
    `SELECT i.relname AS name, pg_get_indexdef(i.oid) AS definition
     FROM pg_index x JOIN pg_class i ON i.oid = x.indexrelid JOIN pg_class t ON t.oid = x.indrelid
     WHERE t.relname IN ('articles', 'articles_categories_links') AND NOT x.indisprimary`,
  )
  for (const { name } of rows) await client.query(`DROP INDEX "${name}"`)
  return rows.map(({ definition }) => definition)
}

const STAMPS = 'now(), now(), now()'

const GEOGRAPHY = `
INSERT INTO continents (id, document_id, created_at, updated_at, published_at, name) OVERRIDING SYSTEM VALUE
SELECT n, 'continent-' || n, ${STAMPS}, 'Continent ' || n FROM generate_series(1, 5) AS n;
INSERT INTO countries (id, document_id, created_at, updated_at, published_at, name, continent_key)
OVERRIDING SYSTEM VALUE
SELECT n, 'country-' || n, ${STAMPS}, 'Country ' || n, n % 5 + 1 FROM generate_series(1, 50) AS n;
INSERT INTO cities (id, document_id, created_at, updated_at, published_at, name, country_key)
OVERRIDING SYSTEM VALUE
SELECT n, 'city-' || n, ${STAMPS}, 'City ' || n, n % 50 + 1 FROM generate_series(1, 500) AS n;
INSERT INTO categories (id, document_id, created_at, updated_at, published_at, name, slug) OVERRIDING SYSTEM VALUE
SELECT n, 'category-' || n, ${STAMPS}, 'Category ' || n, 'category-' || n FROM generate_series(1, 30) AS n;`

/** What an article is does not depend on how many there are; one is published a minute. */
const statements = ({ from, to }: Growth): readonly string[] => [
  `INSERT INTO authors (id, document_id, created_at, updated_at, published_at, name, bio, city_key)
  OVERRIDING SYSTEM VALUE
  SELECT n, 'author-' || n, ${STAMPS}, 'Author ' || n, repeat('A life in one sentence. ', 5), n % 500 + 1
  FROM generate_series(${from / OF_AUTHOR + 1}, ${to / OF_AUTHOR}) AS n`,
  `INSERT INTO articles (id, document_id, document_key, status, created_at, updated_at, published_at,
    title, slug, excerpt, body, rating, price, day, featured, kind, author_key, author_inverse_position)
  OVERRIDING SYSTEM VALUE
  SELECT 2 * n - 1 + later, 'article-' || n, 2 * n - 1, status, stamp, stamp,
    CASE status WHEN 'published' THEN stamp END, 'Article number ' || n, 'article-number-' || n,
    'What article ' || n || ' is about, in a line or two of text.',
    repeat('A paragraph of body text, as long as such things are. ', 20), n % 11, n % 100 + 0.5,
    date '2024-01-01' + n % 365, n % 7 = 0, (ARRAY['news', 'opinion', 'review'])[n % 3 + 1],
    (n - 1) / 1000 * 10 + n % 10 + 1, n
  FROM generate_series(${from + 1}, ${to}) AS n,
    LATERAL (SELECT timestamptz '2020-01-01Z' + n * interval '1 minute' AS stamp) AS moment,
    LATERAL (VALUES ('draft', 0, n), ('published', 1, n)) AS version (status, later)`,
  `INSERT INTO articles_categories_links (owner_id, target_key, position, inverse_position)
  SELECT row, ((row + 1) / 2 + 10 * place) % 30 + 1, place, row
  FROM generate_series(${2 * from + 1}, ${2 * to}) AS row, generate_series(1, 3) AS place`,
]
