import test, { type ExecutionContext } from 'ava'
import type { Database } from '../../core/database/database.ts'
import type { Observation } from '../../core/observe/observation.ts'
import { FULL, openTwoApps, type Site } from '../cache/two-apps.ts'

// Answers of a server whose database fails: it was migrated for another version, or changed concurrently.

const project = (attributes: string) => `
name: Outdated
server: { rateLimit: { api: false, auth: false } }
contentTypes:
  note: { attributes: { ${attributes} } }
  tag: { attributes: { name: string } }
apiTokens: { full: { type: full-access, secret: ${FULL} } }
`

async function open(t: ExecutionContext) {
  const observations: Observation[] = []
  const observer = { isEnabled: () => true, emit: (each: Observation) => void observations.push(each) }
  const apps = await openTwoApps(project('title: string, size: string'), { observer })
  t.teardown(() => apps.close())
  return {
    ...apps,
    count: (kind: Observation['kind']) => observations.filter(each => each.kind === kind).length,
  }
}

const create = (site: Site, type: string, data: object) =>
  site.ask('POST', `/api/${type}`, { as: FULL, body: { data } })

const mutate = (site: Site, query: string) => site.ask('POST', '/graphql', { as: FULL, body: { query } })

const CHANGED =
  'The database was changed for another version of the project: this server has to be restarted with it'

test('a server whose tables were migrated by another version answers 503 to everything, and logs the reason once', async t => {
  const { plain, open: start, count } = await open(t)
  await plain.data('POST', '/api/notes', { title: 'one' })
  const newer = await start(project('title: string, stars: { type: integer, required: true, backfill: 1 }'))
  for (let turn = 0; turn < 2; turn++) {
    const refused = await create(plain, 'notes', { title: 'two' })
    t.is(refused.status, 503, refused.text)
    t.like(JSON.parse(refused.text).error, { name: 'ServiceUnavailableError', message: CHANGED })
    t.is(refused.headers['retry-after'], '1')
  }
  const answer = await mutate(plain, 'mutation { createNote(data: { title: "two" }) { data { id } } }')
  t.like(JSON.parse(answer.text).errors[0], { message: CHANGED })
  t.is(count('outdated'), 1)
  t.is(count('failed'), 0)
  t.is((await create(plain, 'tags', { name: 'x' })).status, 503)
  t.is((await create(newer, 'notes', { title: 'three', stars: 2 })).status, 201)
})

test('a changed or dropped column, and a new constraint, also mean 503', async t => {
  const { plain, open: start, count } = await open(t)
  await plain.data('POST', '/api/notes', { title: 'one', size: '5' })
  await start(
    project('name: { type: string, renamedFrom: title, unique: true }, size: { type: integer, backfill: 1 }'),
  )
  for (const [method, path, body] of [
    ['GET', '/api/notes', undefined],
    ['POST', '/api/notes', { data: { title: 'two' } }],
  ] as const) {
    const refused = await plain.ask(method, path, { as: FULL, ...(body && { body }) })
    t.is(refused.status, 503, refused.text)
  }
  const { errors } = JSON.parse((await mutate(plain, '{ notes { data { id attributes { title } } } }')).text)
  t.like(errors[0], { message: CHANGED })
  t.is(count('failed'), 0)
})

/** Makes PostgreSQL refuse each new tag. */
async function failInserts(database: Database, condition: string): Promise<void> {
  const body = `'BEGIN RAISE ${condition}; END'`
  const make = `CREATE FUNCTION fail() RETURNS trigger LANGUAGE plpgsql AS ${body}`
  await database.run({ text: make, values: [] })
  const trigger = 'CREATE TRIGGER fail BEFORE INSERT ON tags FOR EACH ROW EXECUTE FUNCTION fail()'
  await database.run({ text: trigger, values: [] })
}

test('a failed statement on unchanged tables is an error of the server', async t => {
  const { plain, database, count } = await open(t)
  await failInserts(database, 'undefined_column')
  t.is((await create(plain, 'tags', { name: 'x' })).status, 500)
  t.is(count('outdated'), 0)
})

test('a write with a serialization failure at every attempt is refused as retryable', async t => {
  const { plain, database, count } = await open(t)
  await failInserts(database, 'serialization_failure')
  const refused = await create(plain, 'tags', { name: 'x' })
  t.is(refused.status, 503)
  t.is(refused.headers['retry-after'], '1')
  t.like(JSON.parse(refused.text).error, { message: 'Others wrote at the same moment: try again' })
  const answer = await mutate(plain, 'mutation { createTag(data: { name: "x" }) { data { id } } }')
  t.like(JSON.parse(answer.text).errors[0], { message: 'Others wrote at the same moment: try again' })
  t.is(count('failed'), 0)
  t.is(count('unavailable'), 2)
})
