import { setTimeout as pause } from 'node:timers/promises'
import test, { type ExecutionContext } from 'ava'
import { temporaryFolder } from '../harness/folder.ts'
import { openRandom } from '../harness/random.ts'
import { type Server, startServer } from '../harness/server.ts'
import { createDatabase, testServer } from '../harness/test-database.ts'
import {
  connect,
  createNote,
  PROJECT,
  type State,
  Subject,
  send,
  TOKEN,
  type WriteOptions,
  writeOnce,
} from './exact-subjects.ts'
import { FILLERS, type Row, type Target, VIEWS, type View } from './exact-views.ts'

// Responses of two processes with a cache, while both, and others in SQL, write to their database. The states of each subject are
// known, so each response is compared with those that were current while its request ran.

/** Writes to each subject; EXACT_ROUNDS=1500 makes about 160,000 reads and writes. EXACT_SEED: another order of writes. */
const ROUNDS = Number(process.env.EXACT_ROUNDS ?? 25)
const SEED = Number(process.env.EXACT_SEED ?? Date.now() % 1_000_000)

const SUBJECTS = 6

interface Place {
  readonly url: string
  readonly bases: readonly string[]
  readonly subjects: readonly Subject[]
}

async function open(t: ExecutionContext): Promise<Place> {
  const url = await createDatabase(t, testServer() ?? '')
  const servers: Server[] = []
  for (let number = 0; number < 2; number++) {
    const folder = temporaryFolder()
    t.teardown(() => folder.remove())
    folder.write('project.yaml', PROJECT)
    const server = await startServer({ project: folder.path, environment: { DATABASE_URL: url } })
    t.teardown(() => server.stop())
    servers.push(server)
  }
  const bases = servers.map(({ base }) => base)
  const subjects: Subject[] = []
  for (let number = 0; number < SUBJECTS; number++)
    subjects.push(await createSubject(bases[0] ?? '', `s${number}`))
  const client = await connect(url)
  for (const table of ['marks', 'boards'])
    await client.query(
      `INSERT INTO ${table} (document_id, name, value, created_at, updated_at, published_at)
       SELECT 'mark-' || n, 's' || n, 0, now(), now(), now() FROM generate_series(0, ${table === 'marks' ? SUBJECTS - 1 : 0}) AS n`,
    )
  for (let number = 0; number < FILLERS; number++)
    await send(`${bases[0]}/api/notes`, 'POST', {
      name: `zz ${number}`,
      value: -1,
      rating: 3,
      title: 'other',
    })
  await client.end()
  return { url, bases, subjects }
}

async function createSubject(base: string, name: string): Promise<Subject> {
  const form = new FormData()
  form.set('files', new File(['words'], `${name}.txt`))
  const uploaded = await fetch(`${base}/api/upload`, {
    ...{ method: 'POST', body: form, headers: { authorization: `Bearer ${TOKEN}` } },
    signal: AbortSignal.timeout(120_000),
  })
  const [file] = (await uploaded.json()) as { id: number }[]
  const subject = new Subject(name, file?.id ?? 0)
  subject.shelfId = (await send(`${base}/api/shelves`, 'POST', { name })).documentId
  subject.textId = (await send(`${base}/api/texts`, 'POST', { name, value: 0 })).documentId
  subject.markId = `mark-${name.slice(1)}`
  const { published } = subject.state
  if (published) subject.noteIds.set(0, (await createNote(base, subject, published)).documentId)
  return subject
}

interface Answer {
  readonly rows: readonly Row[]
  readonly total: number | undefined
  readonly next: string | null | undefined
  readonly isHit: boolean
}

/** A reader has the entity tag of the last response, and gets 304 for an equal one. */
type Ask = (path: string) => Promise<Answer>

function openAsk(base: string, { token = TOKEN, graphql }: View): Ask {
  let last = { path: '', tag: '', text: '' }
  return async path => {
    const answer = await fetch(graphql ? `${base}/graphql` : base + path, {
      headers: {
        authorization: `Bearer ${token}`,
        ...(path === last.path && { 'if-none-match': last.tag }),
        ...(graphql && { 'content-type': 'application/json' }),
      },
      ...(graphql && { method: 'POST', body: JSON.stringify({ query: graphql }) }),
      signal: AbortSignal.timeout(120_000),
    })
    const received = await answer.text()
    const text = answer.status === 304 ? last.text : received
    if (![200, 304, 404].includes(answer.status)) throw new Error(`${path}: ${answer.status} ${text}`)
    last =
      answer.status === 404
        ? { path: '', tag: '', text }
        : { path, tag: answer.headers.get('etag') ?? '', text }
    const isHit = (answer.headers.get('server-timing') ?? '').includes('cache;desc=hit')
    return { ...toAnswer(text, graphql !== undefined), isHit }
  }
}

interface RestBody {
  readonly data: Row | readonly Row[] | null
  readonly meta?: { readonly pagination?: { readonly total?: number; readonly next?: string | null } }
}

function toAnswer(text: string, isGraphql: boolean): Omit<Answer, 'isHit'> {
  const body = JSON.parse(text)
  const { data, meta } = (isGraphql ? flat(body.data.notes) : body) as RestBody
  const { total, next } = meta?.pagination ?? {}
  return { rows: data === null ? [] : [data].flat(), total, next }
}

/** The flat form of GraphQL's nested one. */
function flat(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(flat)
  if (typeof value !== 'object' || value === null) return value
  const found = Object.fromEntries(Object.entries(value).map(([key, each]) => [key, flat(each)]))
  if ('attributes' in found) return found.attributes
  return Object.keys(found).join() === 'data' && !Array.isArray(found.data) ? found.data : found
}

const targetOf = (subject: Subject): Target => {
  const life = Math.max(...subject.noteIds.keys())
  const { name, textId, markId } = subject
  return { name, life, noteId: subject.noteIds.get(life) ?? '', textId, markId }
}

/** What a response may show of one subject. */
interface Expected {
  readonly target: Target
  readonly states: readonly State[]
}

/** The keys between which a page has all rows. */
interface Bounds {
  readonly after: number | string | null
  readonly until: number | string | null
}

/** The differences of an answer from everything that was current while the request ran. */
function compare(
  view: View,
  { rows, total }: Answer,
  expected: readonly Expected[],
  after: Bounds['after'],
): string[] {
  const last = rows.at(-1)
  const until = view.page && last && rows.length === view.page.size ? view.page.key(last) : null
  const wrong = expected.flatMap(({ target, states }) => {
    const row = view.isOne ? rows[0] : rows.find(({ name }) => name === target.name)
    const shown = row ? JSON.stringify(view.read(row)) : null
    const isRight = states.some(state => {
      const right = view.shows(state, target)
      return right === shown || (shown === null && isOutside(view, { after, until }, keyed(state, target)))
    })
    return isRight
      ? []
      : [
          `${view.name}: ${target.name} is ${shown}, not ${states.map(state => view.shows(state, target)).join(' or ')}`,
        ]
  })
  if (view.fillers === undefined) return wrong
  const counts = expected.map(({ target, states }) =>
    states.map(state => (view.shows(state, target) === null ? 0 : 1)),
  )
  const sum = (of: (...numbers: number[]) => number) =>
    counts.reduce((added, each) => added + of(...each), view.fillers ?? 0)
  const isCounted = total !== undefined && total >= sum(Math.min) && total <= sum(Math.max)
  return isCounted
    ? wrong
    : [...wrong, `${view.name}: the total is ${total}, not ${sum(Math.min)} to ${sum(Math.max)}`]
}

const keyed = ({ published }: State, { name }: Target) => ({ name, value: published?.value })

function isOutside({ page }: View, { after, until }: Bounds, row: ReturnType<typeof keyed>): boolean {
  if (!page) return false
  const key = page.key(row)
  return (after !== null && key <= after) || (until !== null && key >= until)
}

interface Counts {
  reads: number
  hits: number
  writes: number
  readonly wrong: string[]
}

/** Reads one view of one process, again and again, until `isOver`. */
async function look(view: View, base: string, { place, counts, isOver }: Options): Promise<void> {
  const ask = openAsk(base, view)
  const random = openRandom(SEED + view.name.length)
  const read = async (path: string, about: readonly Subject[], after: Bounds['after']) => {
    const begun = about.map(subject => ({ subject, target: targetOf(subject), since: subject.acknowledged }))
    const answer = await ask(path)
    const expected = begun.map(({ subject, target, since }) => ({ target, states: subject.possible(since) }))
    counts.reads++
    if (answer.isHit) counts.hits++
    counts.wrong.push(...compare(view, answer, expected, after))
    return answer
  }
  while (!isOver()) {
    const subject = place.subjects[random(SUBJECTS)]
    if (!subject) continue
    const path = view.path(targetOf(subject))
    const about = view.isOne ? [subject] : place.subjects
    const { rows, next } = await read(path, about, null)
    const last = rows.at(-1)
    if (typeof next === 'string' && view.page && last)
      await read(path.replace('[after]=', `[after]=${next}`), about, view.page.key(last))
  }
}

interface Options {
  readonly place: Place
  readonly counts: Counts
  readonly isOver: () => boolean
}

/** Writes follow each other, at times with a pause in which responses are cached. */
async function write(subject: Subject, counts: Counts, options: WriteOptions): Promise<void> {
  for (let round = 0; round < ROUNDS; round++) {
    const before = subject.acknowledged
    await writeOnce(subject, options)
    counts.writes += subject.acknowledged - before
    if (options.random(2) === 0) await pause(options.random(120))
  }
}

test(`no response is older than the last commit before its request, or newer than a commit (seed ${SEED})`, async t => {
  const place = await open(t)
  const counts: Counts = { reads: 0, hits: 0, writes: 0, wrong: [] }
  let isOver = false
  const options = { place, counts, isOver: () => isOver || counts.wrong.length > 20 }
  const readers = place.bases.flatMap(base => VIEWS.map(view => look(view, base, options)))
  const writers = place.subjects.map(async (subject, at) => {
    const client = await connect(place.url)
    const random = openRandom(SEED + at)
    return write(subject, counts, { bases: place.bases, client, random }).finally(() => client.end())
  })
  const written = await Promise.allSettled(writers)
  isOver = true
  await Promise.all(readers)
  t.deepEqual(
    written.filter(({ status }) => status === 'rejected'),
    [],
  )
  t.log(`${counts.reads} responses, ${counts.hits} from the cache, ${counts.writes} writes`)
  t.deepEqual(counts.wrong, [])
  t.true(counts.hits > 0, 'some responses were cached')
})
