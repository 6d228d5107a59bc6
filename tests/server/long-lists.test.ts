import test from 'ava'
import type { Database, Transaction } from '../../core/database/database.ts'
import { openWriting, openWritingOver, type Writing } from '../documents/writing.ts'
import { withRowsRead } from '../harness/rows-read.ts'
import { modelOf } from '../model/compiled.ts'

// The cost of connecting and disconnecting depends on the body, not on the length of the list.

const relations = (drafts: boolean) => `
  article:
    draftAndPublish: true
    attributes:
      title: string
      shelf: { type: relation, relation: manyToOne, target: shelf, inversedBy: articles }
      tags: { type: relation, relation: manyToMany, target: shelf, inversedBy: tagged }
      related: { type: relation, relation: manyToMany, target: article }
  shelf:
    draftAndPublish: ${drafts}
    attributes:
      name: string
      articles: { type: relation, relation: oneToMany, target: article, mappedBy: shelf }
      tagged: { type: relation, relation: manyToMany, target: article, mappedBy: tags }
`

const COUNT = 10_000
const EXTRA = 30

/** Articles with drafts and published versions, of which COUNT are linked to the document `full` of each list. */
async function fill({ database, create }: Writing) {
  const run = (text: string, values: readonly unknown[] = []) => database.run({ text, values: [...values] })
  await run(
    `INSERT INTO articles (document_id, document_key, status, title, created_at, updated_at, published_at)
     SELECT 'a' || n, n * 2, status, 't' || n, now(), now(), CASE status WHEN 'published' THEN now() END
     FROM generate_series(1, $1::integer) n, (VALUES ('draft'), ('published')) v (status)`,
    [COUNT + EXTRA],
  )
  const full = String((await create('shelf', { name: 'full' })).documentId)
  const empty = String((await create('shelf', { name: 'empty' })).documentId)
  const key = `(SELECT min(id) FROM shelves WHERE document_id = '${full}')`
  const linked = `document_key <= ${COUNT * 2}`
  await run(`UPDATE articles SET shelf_key = ${key}, shelf_inverse_position = document_key WHERE ${linked}`)
  await run(
    `INSERT INTO articles_tags_links (owner_id, target_key, position, inverse_position) SELECT id, ${key}, 1, document_key FROM articles WHERE ${linked}`,
  )
  const list = String((await create('article', { title: 'full' })).documentId)
  const none = String((await create('article', { title: 'empty' })).documentId)
  await run(
    `INSERT INTO articles_related_links (owner_id, target_key, position) SELECT o.id, a.document_key, a.document_key FROM articles o, articles a WHERE o.document_id = $1 AND a.status = 'draft' AND a.${linked}`,
    [list],
  )
  for (const table of ['articles', 'articles_tags_links', 'articles_related_links', 'shelves'])
    await run(`ANALYZE ${table}`)
  return {
    articles: { type: 'shelf', full, empty },
    tagged: { type: 'shelf', full, empty },
    related: { type: 'article', full: list, empty: none },
  } as const
}

/** A database that counts the statements of transactions and the rows that they answer. */
function counting(database: Database) {
  const counts = { statements: 0, rows: 0 }
  const count = (transaction: Transaction): Transaction => ({
    ...transaction,
    run: async statement => {
      counts.statements++
      const found = await transaction.run(statement)
      counts.rows += found.rows.length
      return found
    },
    send: statement => {
      counts.statements++
      transaction.send(statement)
    },
  })
  const counted: Database = {
    ...database,
    transaction: (work, options) => database.transaction(each => work(count(each)), options),
  }
  return { counted, counts }
}

const median = (values: readonly number[]): number =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN

for (const drafts of [false, true])
  test.serial(
    `connecting a document to a list of ${COUNT} runs as many statements and rows as to an empty one${drafts ? ', with drafts on both sides' : ''}`,
    async t => {
      const model = await modelOf(`contentTypes:${relations(drafts)}`)
      const writing = await openWriting(t, model)
      const documents = await fill(writing)
      const { counted, counts } = counting(writing.database)
      const { update } = openWritingOver(counted, model)
      const measure = async (name: keyof typeof documents, list: 'full' | 'empty', value: unknown) => {
        const { type, [list]: id } = documents[name]
        Object.assign(counts, { statements: 0, rows: 0 })
        const began = performance.now()
        await update(type, id, { [name]: value }, { plainly: { filter: null } })
        return { ...counts, milliseconds: performance.now() - began }
      }
      for (const name of Object.keys(documents) as (keyof typeof documents)[]) {
        // Names of sequences are read once.
        for (const list of ['full', 'empty'] as const)
          await measure(name, list, { connect: [`a${COUNT + EXTRA}`] })
        const seen = { full: [] as number[], empty: [] as number[] }
        const changes = (id: string) => [
          { connect: [id] },
          { connect: [{ documentId: id, position: { start: true } }] },
          { disconnect: [id] },
        ]
        // Each list gets others: what links led to before is not read again.
        for (let extra = COUNT + 1; extra < COUNT + EXTRA - 1; extra += 2) {
          const ofEmpty = changes(`a${extra + 1}`)
          for (const [index, change] of changes(`a${extra}`).entries()) {
            const full = await measure(name, 'full', change)
            const empty = await measure(name, 'empty', ofEmpty[index])
            t.deepEqual([full.statements, full.rows], [empty.statements, empty.rows], `${name} ${index}`)
            seen.full.push(full.milliseconds)
            seen.empty.push(empty.milliseconds)
          }
        }
        const [full, empty] = [median(seen.full), median(seen.empty)]
        // Not asserted: if a side has drafts, publishing compares both versions of all its links in the database.
        t.log(`${name}: ${full.toFixed(1)} ms, and ${empty.toFixed(1)} ms with an empty list`)
      }
    },
  )

/** A database whose transactions count the rows that they read in tables. */
function readsCounted(database: Database) {
  const counts = { read: 0 }
  const counted: Database = {
    ...database,
    transaction: (work, options) =>
      database.transaction(async transaction => {
        const { value, read } = await withRowsRead(transaction, () => work(transaction))
        counts.read += read
        return value
      }, options),
  }
  return { counted, counts }
}

const SIZE = 300

const LINKS = ['articles_tags_links', 'articles_related_links']

/** What PostgreSQL knows of the tables of links: nothing, that they never had rows, or that all rows were deleted. */
const STATISTICS = ['no statistics', 'statistics of new tables', 'statistics of emptied tables'] as const

for (const drafts of [false, true])
  for (const known of STATISTICS)
    test.serial(
      `changes of a whole list read rows in proportion to its length, with ${known} of links${drafts ? ' and drafts on both sides' : ''}`,
      async t => {
        const model = await modelOf(`contentTypes:${relations(drafts)}`)
        const { database, create } = await openWriting(t, model)
        const run = (text: string) => database.run({ text, values: [] })
        for (const table of ['articles', 'shelves', ...LINKS])
          await run(`ALTER TABLE ${table} SET (autovacuum_enabled = off)`)
        const fill = () =>
          run(
            `INSERT INTO articles (document_id, document_key, status, title, created_at, updated_at, published_at)
             SELECT 'a' || n, n * 2, status, 't' || n, now(), now(), CASE status WHEN 'published' THEN now() END
             FROM generate_series(1, ${2 * SIZE}) n, (VALUES ('draft'), ('published')) v (status)`,
          )
        if (known === 'statistics of emptied tables') {
          await fill()
          for (const table of LINKS)
            await run(`INSERT INTO ${table} (owner_id, target_key, position) SELECT id, 1, 1 FROM articles`)
          await run('DELETE FROM articles')
          await run(`ANALYZE articles, ${LINKS.join(', ')}`)
        }
        await fill()
        // The statistics say that no article is linked.
        if (known !== 'statistics of emptied tables') await run('ANALYZE articles')
        if (known === 'statistics of new tables') await run(`ANALYZE ${LINKS.join(', ')}`)
        const { counted, counts } = readsCounted(database)
        const { update, change } = openWritingOver(counted, model)
        const ids = (from: number) => Array.from({ length: SIZE }, (_, index) => `a${from + index}`)
        const between = ids(SIZE + 1).map((documentId, index) => ({
          documentId,
          position: { before: `a${index + 1}` },
        }))
        const changes = [
          { set: ids(1) },
          { connect: between },
          { set: [...ids(1), ...ids(SIZE + 1)].toReversed() },
          { set: ids(1) },
          { disconnect: ids(1) },
        ]
        for (const [name, type] of [
          ['articles', 'shelf'],
          ['tagged', 'shelf'],
          ['related', 'article'],
        ] as const) {
          const { documentId } = await create(type, { [type === 'shelf' ? 'name' : 'title']: name })
          const measure = async (what: string, work: () => Promise<unknown>) => {
            counts.read = 0
            await work()
            t.true(counts.read < 100 * SIZE, `${name} ${what}: ${counts.read}`)
          }
          const plainly = { plainly: { filter: null } }
          for (const value of changes)
            await measure(Object.keys(value).join(), () =>
              update(type, documentId, { [name]: value }, plainly),
            )
          if (!drafts && type === 'shelf') continue
          for (const kind of ['publish', 'discardDraft'] as const) {
            const value = { set: ids(kind === 'publish' ? 1 : SIZE + 1) }
            await update(type, documentId, { [name]: value }, { ...plainly, status: 'draft' })
            await measure(kind, () => change(kind, type, documentId, plainly))
          }
        }
      },
    )
