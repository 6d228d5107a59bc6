import test from 'ava'
import { trusted } from '../../core/access/brand.ts'
import { openReads } from '../../core/documents/read/read.ts'
import { migrate } from '../../core/migrate/migrate.ts'
import { compileStorage } from '../../core/model/compile-storage.ts'
import { parseListQuery, parseQueryString } from '../harness/attempts.ts'
import { withRowsRead } from '../harness/rows-read.ts'
import { openTestDatabase } from '../harness/test-database.ts'
import { modelOf } from '../model/compiled.ts'
import { typeOf } from '../query/library.ts'
import { must, SETTINGS } from '../rest/reading.ts'

// PostgreSQL expects of a new table that one row in 200 has a status. The rows of links are looked up by keys nevertheless.

const typesOf = (localized: boolean) => `contentTypes:
  article:
    draftAndPublish: true
    localized: ${localized}
    attributes:
      title: string
      shelf: { type: relation, relation: manyToOne, target: shelf, inversedBy: articles }
      tags: { type: relation, relation: manyToMany, target: tag, inversedBy: articles }
      related: { type: relation, relation: manyToMany, target: article }
  shelf:
    attributes:
      name: string
      articles: { type: relation, relation: oneToMany, target: article, mappedBy: shelf }
  tag:
    draftAndPublish: true
    localized: ${localized}
    attributes:
      name: string
      articles: { type: relation, relation: manyToMany, target: article, mappedBy: tags }
`

const ARTICLES = 3_000
const OTHERS = 300

/** Each article has a shelf, and three tags and related articles; each shelf has 10 articles, and each tag 30. */
function fillOf(localized: boolean): readonly string[] {
  const [name, value, from] = localized ? [', locale', `, 'en'`, ''] : ['', '', '']
  const versions = `(VALUES ('draft'), ('published')) v (status)`
  const stamps = `now(), now(), CASE status WHEN 'published' THEN now() END`
  const targets = (count: number) => `2 * (1 + (document_key / 2 * 7 + k * 13) % ${count})`
  return [
    `INSERT INTO shelves (id, document_id, name, created_at, updated_at, published_at) OVERRIDING SYSTEM VALUE SELECT 2 * n, 's' || n, 's' || n, now(), now(), now() FROM generate_series(1, ${OTHERS}) n`,
    `INSERT INTO tags (document_id, document_key, status${name}, name, created_at, updated_at, published_at)
     SELECT 't' || n, 2 * n, status${value}, 't' || n, ${stamps} FROM generate_series(1, ${OTHERS}) n, ${versions}${from}`,
    `INSERT INTO articles (document_id, document_key, status${name}, title, shelf_key, shelf_inverse_position, created_at, updated_at, published_at)
     SELECT 'a' || n, 2 * n, status${value}, 'a' || n, 2 * (1 + n % ${OTHERS}), n, ${stamps} FROM generate_series(1, ${ARTICLES}) n, ${versions}`,
    `INSERT INTO articles_tags_links (owner_id, target_key, position, inverse_position)
     SELECT id, ${targets(OTHERS)}, k, document_key FROM articles, generate_series(1, 3) k`,
    `INSERT INTO articles_related_links (owner_id, target_key, position)
     SELECT id, ${targets(ARTICLES)}, k FROM articles, generate_series(1, 3) k`,
  ]
}

const PAGE = 20

/** Lists of 20 documents, and how many rows their relations have. */
const LISTS = [
  ['article', 'populate[shelf]=true', PAGE],
  ['article', 'populate[tags]=true', 3 * PAGE],
  ['article', 'populate[related][populate][tags]=true', 12 * PAGE],
  ['article', 'populate[tags][populate][articles]=true', 93 * PAGE],
  ['article', 'populate[tags][count]=true', 3 * PAGE],
  ['shelf', 'populate[articles]=true', 10 * PAGE],
  ['shelf', 'populate[articles][populate][related]=true', 40 * PAGE],
  ['tag', 'populate[articles]=true', 30 * PAGE],
  ['tag', 'populate[articles][count]=true', 30 * PAGE],
  ['tag', 'populate[articles][populate][shelf]=true', 60 * PAGE],
] as const

const TABLES = ['articles', 'tags', 'shelves', 'articles_tags_links', 'articles_related_links']

for (const localized of [false, true])
  test.serial(
    `lists with relations read rows in proportion to their length without statistics${localized ? ', with locales' : ''}`,
    async t => {
      const model = await modelOf(`${localized ? 'i18n: { locales: [en] }\n' : ''}${typesOf(localized)}`)
      const storage = compileStorage(model)
      const database = await openTestDatabase(t, { tables: storage.tables })
      await migrate(database, storage.tables)
      for (const table of TABLES)
        await database.run({ text: `ALTER TABLE ${table} SET (autovacuum_enabled = off)`, values: [] })
      for (const text of fillOf(localized)) await database.run({ text, values: [] })
      let read = 0
      const counting: typeof database = {
        ...database,
        run: statement =>
          database.transaction(async transaction => {
            const counted = await withRowsRead(transaction, () => transaction.run(statement))
            read = counted.read
            return counted.value
          }),
      }
      const reads = openReads({ database: counting, storage, defaultLocale: model.defaultLocale })
      const rowsReadBy = async (key: string, search: string) => {
        const parameters = must(
          parseQueryString(`pagination[pageSize]=${PAGE}&pagination[withCount]=false&${search}`),
        )
        const { query } = must(parseListQuery(typeOf(model, key), parameters, { model, settings: SETTINGS }))
        const { text } = await reads.findMany(trusted(query), 'flat')
        t.is(JSON.parse(text ?? '').length, PAGE)
        return read
      }
      for (const [key, search, related] of LISTS) {
        const alone = await rowsReadBy(key, 'populate[0]=')
        const rows = (await rowsReadBy(key, search)) - alone
        // A link and its target, each in two versions.
        t.true(rows <= 4 * related, `${key} ${search}: ${rows} rows for ${related}`)
      }
    },
  )
