import { tmpdir } from 'node:os'
import test from 'ava'
import { fillDatabase } from '../../core/app/prepare-database.ts'
import type { Database } from '../../core/database/database.ts'
import { openReads } from '../../core/documents/read/read.ts'
import { openStorage } from '../../core/media/storage/open-storage.ts'
import { migrate } from '../../core/migrate/migrate.ts'
import { SEPARATOR } from '../../core/sql/print.ts'
import type { Statement } from '../../core/sql/statement.ts'
import { restrict } from '../harness/attempts.ts'
import { openTestDatabase } from '../harness/test-database.ts'
import {
  golden,
  goldenBlueprint,
  goldenCases,
  must,
  parseRequest,
  ruledBlueprint,
  ruledCallers,
} from './golden.ts'

const blueprint = await goldenBlueprint()
const statements: Statement[] = []
let counting: Database
let reads: ReturnType<typeof openReads>

const endings: (() => unknown)[] = []

test.before(async t => {
  const database = await openTestDatabase({ teardown: end => void endings.unshift(end) })
  must(await migrate(database, blueprint.storage.tables))
  const filled = await fillDatabase(
    blueprint,
    database,
    openStorage(blueprint.project.settings.upload, tmpdir()),
  )
  t.true(filled.ok)
  counting = Object.assign(Object.create(database), {
    run: (statement: Statement) => {
      statements.push(statement)
      return database.run(statement)
    },
  })
  reads = openReads({ ...blueprint, database: counting, defaultLocale: blueprint.model.defaultLocale })
})

test.after.always(async () => {
  for (const end of endings) await end()
})

/** Replaces the values that differ between runs. */
const STAMP = /"\d{4}-\d\d-\d\dT[\d:.]+Z"/g

for (const { name, request } of goldenCases()) {
  test.serial(`${name}: one statement returns these rows`, async t => {
    const { query, shape } = parseRequest(request, blueprint)
    const restricted = must(restrict(query, blueprint.access.publicCaller))
    const before = statements.length
    const answer =
      query.take.kind === 'one'
        ? { text: await reads.findOne(restricted, shape) }
        : await reads.findMany(restricted, shape)
    t.is(statements.length - before, 1)
    const [text = 'null', behind] = (answer.text ?? 'null').split(SEPARATOR)
    const parsed = { text: JSON.parse(text), ...(behind && { behind: JSON.parse(behind) }) }
    const rows = JSON.stringify({ ...answer, ...parsed }, null, 1)
    const stable = `${rows.replaceAll(STAMP, stamp => (stamp.startsWith('"2023') ? stamp : '"<stamp>"'))}\n`
    t.is(stable, golden(name, 'rows.json', stable))
  })
}

test.serial('a populate of three levels over a hundred rows runs one statement', async t => {
  const { query } = parseRequest(
    'GET /api/articles?pagination[limit]=100&populate[tags][populate][articles][populate][author]=true',
    blueprint,
  )
  const before = statements.length
  await reads.findMany(must(restrict(query, blueprint.access.publicCaller)), 'flat')
  t.is(statements.length - before, 1)
})

test.serial('conditions and fields of a role add no statement to a list, at any depth', async t => {
  const ruled = await ruledBlueprint()
  const own = openReads({ ...ruled, database: counting, defaultLocale: ruled.model.defaultLocale })
  for (const search of [
    '',
    'populate=author,tags',
    'populate[author][populate]=articles&populate[tags][count]=true',
    'filters[author][articles][title][$notNull]=true&sort=author.name,tags.name:desc',
    'status=draft&publicationFilter=modified&populate=localizations',
  ]) {
    const { query } = parseRequest(`GET /api/articles?${search}`, ruled)
    for (const caller of ruledCallers(ruled)) {
      const before = statements.length
      const { total } = await own.findMany(must(restrict(query, caller)), 'flat')
      t.is(statements.length - before, 1, `${caller.grants.name} ${search}`)
      t.is(typeof total, 'number')
      t.regex(statements.at(-1)?.text ?? '', /"price" </)
    }
  }
})

test.serial(
  'a page far into a list has the same rows as an equal part of a page from before it, for any sort',
  async t => {
    const made = await counting.run({
      text: `INSERT INTO tags (document_id, created_at, updated_at, published_at, name, weight)
      SELECT 'far-' || n, now(), now(), now(), 'Tag ' || n % 7, nullif(n % 50, 0) FROM generate_series(1, 1100) AS n`,
      values: [],
    })
    t.truthy(made)
    const idsOf = async (query: string): Promise<readonly number[]> => {
      const { query: parsed, shape } = parseRequest(`GET /api/tags?${query}&fields=name`, blueprint)
      const { text } = await reads.findMany(must(restrict(parsed, blueprint.access.publicCaller)), shape)
      return (JSON.parse(text) as readonly { id: number }[]).map(({ id }) => id)
    }
    const filter = 'filters[$or][0][name]=Tag 0&filters[$or][1][weight][$gte]=0'
    for (const order of [
      '',
      'sort=name',
      'sort=name:desc,weight:desc',
      'sort=weight',
      `sort=name&${filter}`,
    ]) {
      const near = await idsOf(`${order}&pagination[start]=960&pagination[limit]=100`)
      const far = await idsOf(`${order}&pagination[start]=1000&pagination[limit]=60`)
      t.is(far.length, 60)
      t.deepEqual(far, near.slice(40), order)
    }
  },
)
