import test, { type ExecutionContext } from 'ava'
import { openDatabase } from '../../core/database/open-database.ts'
import { freshDatabase } from '../harness/database.ts'
import { type Folder, temporaryFolder } from '../harness/folder.ts'
import { type Server, startServer } from '../harness/server.ts'
import { DATABASE_SETTINGS, testServer } from '../support/database.ts'
import { PROJECT, send, type Told, valuesOf, type Writers, writeUntilGone } from './kill-writers.ts'

type Row = Readonly<Record<string, unknown>>

interface Place {
  readonly folder: Folder
  readonly url: string
}

const start = ({ folder, url }: Place): Promise<Server> =>
  startServer({ project: folder.path, environment: { DATABASE_URL: url } })

async function list(server: Server, path: string): Promise<readonly Row[]> {
  const found: Row[] = []
  for (let page = 1, pages = 1; page <= pages; page++) {
    const { body } = await send(server, 'GET', `${path}&pagination[page]=${page}&pagination[pageSize]=100`)
    found.push(...(body.data as Row[]))
    pages = (body.meta as { pagination: { pageCount: number } }).pagination.pageCount
  }
  return found
}

const WHOLE =
  'locale=*&populate[author]=true&populate[readers]=true&populate[words][populate]=of&populate[seal][populate]=of'

/** What a version holds, in the form that it was written in. */
function writtenIn(row: Row): Row {
  const idOf = (one: unknown) => (one as Row | null)?.documentId
  const wordOf = (one: unknown) => {
    const { text, of } = one as Row
    return of === null ? { text } : { text, of: idOf(of) }
  }
  const { title, stage, author, readers, words, seal } = row
  return {
    title,
    stage,
    author: idOf(author),
    readers: (readers as unknown[]).map(idOf),
    words: (words as unknown[]).map(wordOf),
    seal: wordOf(seal),
  }
}

/** What documents hold, each version whole and the published ones the drafts' equals. */
async function toldBy(
  t: ExecutionContext,
  server: Server,
  people: readonly string[],
): Promise<ReadonlyMap<string, Told>> {
  const found = new Map<string, { words: Record<string, string>; shared: string }>()
  const drafts = await list(server, `/api/articles?status=draft&${WHOLE}`)
  const published = await list(server, `/api/articles?${WHOLE}`)
  const places = (rows: readonly Row[]) => rows.map(({ documentId, locale }) => `${documentId} ${locale}`)
  t.deepEqual(places(published).toSorted(), places(drafts).toSorted())
  for (const row of [...drafts, ...published]) {
    const word = String(row.title)
    const shared = String(row.stage)
    const expected = { ...valuesOf(word, people), stage: shared, seal: valuesOf(shared, people).seal }
    t.deepEqual(writtenIn(row), expected)
    const id = String(row.documentId)
    const told = found.get(id) ?? { words: {}, shared }
    t.is(told.shared, shared, `${id} shares one value`)
    t.is(told.words[String(row.locale)] ?? word, word, `${id} is published as its draft is`)
    told.words[String(row.locale)] = word
    found.set(id, told)
  }
  return found
}

function compare(t: ExecutionContext, found: ReadonlyMap<string, Told>, writers: Writers): void {
  const { acknowledged, doubtful } = writers
  for (const [id, told] of acknowledged) {
    const doubt = doubtful.find(({ documentId }) => documentId === id)
    const seen = found.get(id) ?? null
    if (doubt && isSame(seen, doubt.told)) continue
    t.deepEqual(seen, told, `${id} is as it was acknowledged`)
  }
  const made = doubtful.filter(({ documentId }) => documentId === null)
  for (const [id, told] of found)
    if (!acknowledged.has(id))
      t.true(
        made.some(each => isSame(each.told, told)),
        `${id} was never sent`,
      )
}

const isSame = (one: Told | null, other: Told | null): boolean =>
  JSON.stringify([one?.shared, sorted(one)]) === JSON.stringify([other?.shared, sorted(other)])

const sorted = (told: Told | null) => Object.entries(told?.words ?? {}).toSorted()

const ORPHANS = [
  "SELECT id FROM articles p WHERE status = 'published' AND NOT EXISTS (SELECT FROM articles d WHERE d.status = 'draft' AND d.document_key = p.document_key AND d.locale = p.locale)",
  'SELECT id FROM components_parts_word c WHERE NOT EXISTS (SELECT FROM articles a WHERE a.document_key = c.owner_key AND a.status = c.status AND (c.locale IS NULL OR a.locale = c.locale))',
  'SELECT id FROM components_parts_word c WHERE of_key IS NOT NULL AND NOT EXISTS (SELECT FROM people p WHERE p.id = c.of_key)',
  'SELECT id FROM articles_readers_links l WHERE NOT EXISTS (SELECT FROM articles a WHERE a.id = l.owner_id) OR NOT EXISTS (SELECT FROM people p WHERE p.id = l.target_key)',
]

async function assertNoOrphans(t: ExecutionContext, { folder, url }: Place): Promise<void> {
  const settings = { ...DATABASE_SETTINGS, url }
  const opened = await openDatabase(settings, { root: folder.path, observe: () => {} })
  if (!opened.ok) return t.fail(JSON.stringify(opened.reasons))
  for (const text of ORPHANS) t.deepEqual((await opened.value.run({ text, values: [] })).rows, [], text)
  await opened.value.close()
}

interface Load {
  readonly clients: number
  readonly writes: number
}

async function killAmid(t: ExecutionContext, place: Place, { clients, writes }: Load): Promise<void> {
  const server = await start(place)
  const people: string[] = []
  for (const name of ['Ann', 'Bea', 'Cid']) {
    const { body } = await send(server, 'POST', '/api/people', { name })
    people.push(String((body.data as Row).documentId))
  }
  const onWrite = (count: number) => {
    if (count === Math.floor(writes / 2)) process.kill(server.pid, 'SIGKILL')
  }
  const writers = await writeUntilGone(clients, writes, { server, people, onWrite })
  t.is(await server.stop(), null, 'it did not end by itself')
  t.true(writers.count < writes && writers.doubtful.length > 0, 'it was killed amid writes')
  const again = await start(place)
  const after = await toldBy(t, again, people)
  compare(t, after, writers)
  const rest = await writeUntilGone(clients, writes - writers.count, {
    server: again,
    people,
    onWrite: () => {},
  })
  t.deepEqual(rest.doubtful, [])
  const whole = await toldBy(t, again, people)
  t.is(whole.size, after.size + rest.acknowledged.size)
  t.is(await again.stop(), 0)
  await assertNoOrphans(t, place)
}

async function openPlace(t: ExecutionContext, kind: 'server' | 'embedded'): Promise<Place> {
  const folder = temporaryFolder()
  folder.write('project.yaml', PROJECT)
  t.teardown(() => folder.remove())
  if (kind === 'embedded') return { folder, url: 'embedded' }
  const database = await freshDatabase()
  t.teardown(() => database.drop())
  return { folder, url: database.url }
}

const PROMISE =
  'a server that is killed amid writes has every write that it acknowledged, and no half document'

test.serial(`${PROMISE} (embedded database)`, async t => {
  await killAmid(t, await openPlace(t, 'embedded'), { clients: 4, writes: 200 })
})

if (testServer() !== undefined)
  test.serial(`${PROMISE} (PostgreSQL)`, async t => {
    await killAmid(t, await openPlace(t, 'server'), { clients: 8, writes: 1_000 })
  })
