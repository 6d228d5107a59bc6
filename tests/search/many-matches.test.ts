import test from 'ava'
import { compileApp } from '../../core/app/compile-app.ts'
import { migrate } from '../../core/migrate/migrate.ts'
import { temporaryFolder } from '../harness/folder.ts'
import { openTestApp } from '../harness/test-app.ts'
import { openTestDatabase } from '../harness/test-database.ts'
import { must, parseRequest, toStatement } from '../plan/golden.ts'

const TOKEN = 'a-secret-of-forty-letters-that-is-not-guessed'

const PROJECT = {
  server: { rateLimit: { api: false, auth: false, account: false } },
  rest: { maxLimit: 500 },
  contentTypes: {
    note: {
      search: { attributes: { title: 'A', body: 'C' } },
      attributes: { title: 'string', body: 'text', number: 'integer' },
    },
  },
  apiTokens: { all: { type: 'full-access', secret: TOKEN } },
}

interface Found {
  readonly data: readonly { readonly number: number; readonly _highlight?: unknown }[]
  readonly meta: { readonly pagination: { readonly total: number } }
}

/** All contain `wine`; the first and the last as their title. */
const NOTES = 1050

test('of many matches the newest thousand are ranked, and the others follow them', async t => {
  const { app, request } = await openTestApp(t, { project: PROJECT })
  await app.sequelize.query(
    `INSERT INTO notes (document_id, title, body, number, created_at, updated_at)
     SELECT 'n' || n, CASE WHEN n IN (1, ${NOTES}) THEN 'wine' END, 'red wine', n, now(), now() FROM generate_series(1, ${NOTES}) AS n`,
  )
  const find = async (rest: string) => {
    const { status, body } = await request('GET', `/api/notes?search=wine&${rest}`, { token: TOKEN })
    t.is(status, 200, JSON.stringify(body))
    const { data, meta } = body as Found
    t.is(meta.pagination.total, NOTES)
    return data
  }
  const numbers = async (rest: string) => (await find(rest)).map(({ number }) => number)
  t.deepEqual(await numbers('pagination[pageSize]=3'), [NOTES, 51, 52])
  t.deepEqual(await numbers('pagination[start]=998&pagination[limit]=4'), [1048, 1049, 1, 2])
  t.deepEqual(await numbers('pagination[start]=1048&pagination[limit]=10'), [49, 50])
  t.deepEqual(await numbers('pagination[start]=2000'), [])
  const pages = await Promise.all(
    [1, 2, 3].map(page => numbers(`pagination[page]=${page}&pagination[pageSize]=500`)),
  )
  t.is(new Set(pages.flat()).size, NOTES)
  const [last] = await find('pagination[start]=1049&highlight=body')
  t.deepEqual(last?._highlight, { body: 'red <mark>wine</mark>' })
  t.deepEqual(await numbers('sort=number:desc&pagination[start]=1&pagination[limit]=2'), [
    NOTES - 1,
    NOTES - 2,
  ])
  const { body } = await request('GET', '/api/search?q=wine&limit=2', { token: TOKEN })
  const { data } = body as { data: readonly { readonly documentId: string }[] }
  t.deepEqual(
    data.map(({ documentId }) => documentId),
    [`n${NOTES}`, 'n51'],
  )
})

test('one plan by the index serves all words, unless a filter may have a better index', async t => {
  const folder = temporaryFolder()
  t.teardown(folder.remove)
  const roles = { public: { permissions: { note: ['find'] } } }
  folder.write('project.yaml', JSON.stringify({ name: 'Plans', contentTypes: PROJECT.contentTypes, roles }))
  const blueprint = must(await compileApp(folder.path, {}))
  const database = await openTestDatabase(t)
  must(await migrate(database, blueprint.storage.tables))
  const run = async (text: string, values: readonly unknown[] = []) =>
    (await database.run({ text, values })).rows.map(([line]) => String(line)).join('\n')
  await run(
    `INSERT INTO notes (document_id, title, number, created_at, updated_at)
     SELECT 'n' || n, CASE WHEN n = 1 THEN 'rare' ELSE 'wine' END, n, now(), now() FROM generate_series(1, 3000) AS n`,
  )
  await run('ANALYZE notes')
  const planOf = (query: string) => {
    const { query: parsed, shape } = parseRequest(`GET /api/notes?${query}`, blueprint)
    const { text, values } = toStatement(parsed, shape, blueprint)
    return run(`EXPLAIN ${text}`, values)
  }
  for (const more of ['', '&sort=number', '&pagination[withCount]=false', '&pagination[page]=2']) {
    const plan = await planOf(`search=rare${more}`)
    t.is(plan, await planOf(`search=wine${more}`))
    t.regex(plan, /Bitmap Index Scan on notes___search/)
  }
  t.not(await planOf('search=rare&filters[number]=1'), await planOf('search=wine&filters[number]=1'))
})
