import { setTimeout as pause } from 'node:timers/promises'
import pg from 'pg'

// Subjects of the test of exact answers: documents whose states are known, and random writes of all kinds to them.

export const TOKEN = 'a-full-access-token-for-exact-answers'
/** Finds notes with a rating above 2, in three attributes. */
export const LIMITED = 'a-limited-token-for-the-exact-answers'

export const PROJECT = `name: Exact
server: { host: "\${HOST:-127.0.0.1}", port: "\${PORT:-1393}", rateLimit: { api: false, auth: false } }
database: { url: "\${DATABASE_URL:-embedded}", pool: { max: 8 } }
i18n: { locales: [en, de] }
components:
  part.seo: { attributes: { words: string } }
contentTypes:
  note:
    draftAndPublish: true
    search: { attributes: { title: A } }
    attributes:
      name: string
      value: integer
      rating: integer
      title: string
      seo: { type: component, component: part.seo, repeatable: false }
      shelf: { type: relation, relation: manyToOne, target: shelf }
      cover: { type: media, multiple: false }
  shelf: { attributes: { name: string } }
  text: { localized: true, attributes: { name: string, value: { type: integer, localized: true } } }
  mark: { attributes: { name: string, value: integer } }
  board: { attributes: { name: string, value: integer } }
apiTokens:
  all: { type: full-access, secret: ${TOKEN} }
  limited:
    type: custom
    secret: ${LIMITED}
    permissions: { note: { find: { fields: [name, value, rating], where: { rating: { $gt: 2 } } }, findOne: { fields: [name, value, rating], where: { rating: { $gt: 2 } } } } }
`

/** A version of a note. */
export interface Version {
  readonly value: number
  readonly rating: number
  /** `alpha` or `beta`. */
  readonly title: string
  readonly words: number
  readonly hasShelf: boolean
}

/** What all requests may show of a subject between two writes. */
export interface State {
  readonly draft: Version | null
  readonly published: Version | null
  /** Counts how often the note was created; each time it has another documentId. */
  readonly life: number
  /** null: deleted. */
  readonly shelf: string | null
  readonly caption: number
  readonly text: { readonly en: number; readonly de: number | null }
  /** Also the value of the only board, which the first subject writes. */
  readonly mark: number
}

const NEW: Version = { value: 0, rating: 3, title: 'alpha', words: 0, hasShelf: true }

/** The name of the subject that also writes rows that all have in common. */
export const FIRST = 's0'

/** One document of each type, written by one writer, so its states follow one after the other. */
export class Subject {
  readonly name: string
  readonly fileId: number
  textId = ''
  markId = ''
  shelfId = ''
  /** The documentId of the note by life. */
  readonly noteIds = new Map<number, string>()
  readonly #states: State[]
  /** The last state whose write was acknowledged. */
  acknowledged = 0

  constructor(name: string, fileId: number) {
    this.name = name
    this.fileId = fileId
    const own = { draft: NEW, published: NEW, life: 0, shelf: name, caption: 0, mark: 0 }
    this.#states = [{ ...own, text: { en: 0, de: null } }]
  }

  get state(): State {
    const last = this.#states.at(-1)
    if (!last) throw new Error('a subject has a state')
    return last
  }

  get noteId(): string {
    return this.noteIds.get(this.state.life) ?? 'none'
  }

  /** The states that a response may show whose request began after the acknowledgement `since`. */
  possible(since: number): readonly State[] {
    return this.#states.slice(since)
  }

  async write(next: Partial<State>, run: () => Promise<unknown>): Promise<void> {
    this.#states.push({ ...this.state, ...next })
    await run()
    this.acknowledged = this.#states.length - 1
  }
}

export interface WriteOptions {
  /** The addresses of both processes. */
  readonly bases: readonly string[]
  readonly client: pg.Client
  /** Whole numbers below the bound. */
  readonly random: (bound: number) => number
}

interface Data {
  readonly id?: number
  readonly documentId: string
}

export async function send(url: string, method: string, data?: unknown): Promise<Data> {
  const body = data instanceof FormData ? data : data === undefined ? null : JSON.stringify({ data })
  const answer = await fetch(url, {
    ...{ method, body, signal: AbortSignal.timeout(120_000) },
    headers: {
      authorization: `Bearer ${TOKEN}`,
      ...(typeof body === 'string' && { 'content-type': 'application/json' }),
    },
  })
  const text = await answer.text()
  if (!answer.ok) throw new Error(`${method} ${url}: ${answer.status} ${text}`)
  return text === '' ? { documentId: '' } : (JSON.parse(text) as { data: Data }).data
}

type Write = (subject: Subject, options: WriteOptions) => Promise<unknown>

const base = ({ bases, random }: WriteOptions): string => bases[random(bases.length)] ?? ''

/** Values that no other state of the subject has. */
const change = ({ random }: WriteOptions, version: Version): Version => ({
  ...version,
  value: version.value + 1 + random(3),
  rating: random(2) === 0 ? version.rating : 1 + random(5),
  title: random(2) === 0 ? version.title : version.title === 'alpha' ? 'beta' : 'alpha',
})

const valuesOf = ({ value, rating, title }: Version) => ({ value, rating, title })

/** The draft with the highest value so far, so that no value returns. */
const raised = (options: WriteOptions, { draft, published }: State): Version | null =>
  draft && change(options, { ...draft, value: Math.max(draft.value, published?.value ?? 0) })

const note = (subject: Subject, options: WriteOptions): string =>
  `${base(options)}/api/notes/${subject.noteId}`

const update: Write = async (subject, options) => {
  const draft = raised(options, subject.state)
  if (!draft) return
  const published = options.random(2) === 0
  const path = `${note(subject, options)}?status=${published ? 'published' : 'draft'}`
  await subject.write(published ? { draft, published: draft } : { draft }, () =>
    send(path, 'PUT', valuesOf(draft)),
  )
}

const setRelations: Write = async (subject, options) => {
  const draft = raised(options, subject.state)
  if (!draft || subject.state.shelf === null) return
  const next = { ...draft, hasShelf: options.random(2) === 0, words: draft.words + 1 }
  const data = {
    ...valuesOf(next),
    seo: { words: String(next.words) },
    shelf: next.hasShelf ? subject.shelfId : null,
  }
  await subject.write({ draft: next, published: next }, () => send(note(subject, options), 'PUT', data))
}

/** An update over GraphQL keeps the status. */
const mutate: Write = async (subject, options) => {
  const draft = raised(options, subject.state)
  if (!draft) return
  const { value, rating, title } = draft
  const query = `mutation { updateNote(id: "${subject.noteId}", data: { value: ${value}, rating: ${rating}, title: "${title}" }) { data { id } } }`
  const next = subject.state.published ? { draft, published: draft } : { draft }
  await subject.write(next, async () => {
    const answer = await fetch(`${base(options)}/graphql`, {
      method: 'POST',
      headers: { authorization: `Bearer ${TOKEN}`, 'content-type': 'application/json' },
      body: JSON.stringify({ query }),
      signal: AbortSignal.timeout(120_000),
    })
    const text = await answer.text()
    if (!text.includes(subject.noteId)) throw new Error(`${query}: ${text}`)
  })
}

const unpublish: Write = async (subject, options) => {
  const path = `${base(options)}/api/actions/notes/${subject.noteId}`
  const { published } = subject.state
  if (!published) return
  const [action, next] =
    options.random(2) === 0 ? ['unpublish', { published: null }] : ['discard-draft', { draft: published }]
  await subject.write(next, () => send(`${path}/${action}`, 'POST'))
}

const deleteNote: Write = async (subject, options) => {
  const { life, draft, shelf } = subject.state
  const value = (draft?.value ?? 0) + 1
  await subject.write({ draft: null, published: null }, () => send(note(subject, options), 'DELETE'))
  const made = { ...NEW, value, hasShelf: shelf !== null }
  await subject.write({ draft: made, published: made, life: life + 1 }, async () => {
    const { documentId } = await createNote(base(options), subject, made)
    subject.noteIds.set(life + 1, documentId)
  })
}

export const createNote = (address: string, subject: Subject, { hasShelf, ...version }: Version) =>
  send(`${address}/api/notes`, 'POST', {
    ...valuesOf({ ...version, hasShelf }),
    ...{ name: subject.name, seo: { words: String(version.words) }, cover: subject.fileId },
    ...(hasShelf && { shelf: subject.shelfId }),
  })

const changeShelf: Write = async (subject, options) => {
  const { shelf, draft, published } = subject.state
  const { client, random } = options
  const without = (version: Version | null) => version && { ...version, hasShelf: false }
  const lost = { shelf: null, draft: without(draft), published: without(published) }
  const path = `${base(options)}/api/shelves`
  if (shelf === null) {
    // A shelf without a note changes no response.
    subject.shelfId = (await send(path, 'POST', { name: subject.name })).documentId
    return subject.write({ shelf: subject.name }, async () => {})
  }
  const renamed = shelf === subject.name ? `${subject.name} renamed` : subject.name
  const ways: readonly (() => Promise<void>)[] = [
    () =>
      subject.write({ shelf: renamed }, () => send(`${path}/${subject.shelfId}`, 'PUT', { name: renamed })),
    () =>
      subject.write({ shelf: renamed }, () =>
        client.query('UPDATE shelves SET name = $1 WHERE document_id = $2', [renamed, subject.shelfId]),
      ),
    () => subject.write(lost, () => send(`${path}/${subject.shelfId}`, 'DELETE')),
    // The links are deleted by a cascade.
    () =>
      subject.write(lost, () =>
        client.query('DELETE FROM shelves WHERE document_id = $1', [subject.shelfId]),
      ),
  ]
  return ways[random(ways.length)]?.()
}

const UPDATE = 'UPDATE notes SET value = $1, rating = $2, title = $3 WHERE name = $4'

/** Statements between BEGIN and a COMMIT that comes later, in a third of the cases behind a part that is rolled back. */
const updateInSql: Write = async (subject, { client, random, ...options }) => {
  const draft = raised({ client, random, ...options }, subject.state)
  if (!draft) return
  const values = [draft.value, draft.rating, draft.title, subject.name]
  const set = (version: Version | null) => version && { ...version, ...valuesOf(draft) }
  const published = set(subject.state.published)
  const kind = random(3)
  if (kind === 0) return subject.write({ draft, published }, () => client.query(UPDATE, values))
  await subject.write(published ? { published } : {}, async () => {
    await client.query('BEGIN')
    if (kind === 1) {
      await client.query('SAVEPOINT half')
      await client.query(UPDATE, [-1, ...values.slice(1)])
      await client.query('ROLLBACK TO half')
    }
    await client.query(`${UPDATE} AND status = 'published'`, values)
    await pause(random(30))
    await client.query('COMMIT')
  })
}

/** Other rows in place of those of a table, in one transaction. */
const copyMark: Write = async (subject, { client }) => {
  const mark = subject.state.mark + 1
  const copy = (table: string) => {
    const row = [subject.markId, subject.name, mark, ...Array<string>(3).fill('2026-01-01')].join(',')
    return `COPY ${table} (document_id, name, value, created_at, updated_at, published_at) FROM PROGRAM 'echo ${row}' WITH (FORMAT csv)`
  }
  await subject.write({ mark }, async () => {
    await client.query('BEGIN')
    await client.query('DELETE FROM marks WHERE name = $1', [subject.name])
    await client.query(copy('marks'))
    if (subject.name === FIRST) {
      await client.query('TRUNCATE boards')
      await client.query(copy('boards'))
    }
    await client.query('COMMIT')
  })
}

const changeFile: Write = async (subject, options) => {
  const caption = subject.state.caption + 1
  await subject.write({ caption }, async () => {
    if (options.random(2) === 0)
      return options.client.query('UPDATE plinth_files SET caption = $1 WHERE id = $2', [
        caption,
        subject.fileId,
      ])
    const form = new FormData()
    form.set('fileInfo', JSON.stringify({ caption: String(caption) }))
    return send(`${base(options)}/api/upload?id=${subject.fileId}`, 'POST', form)
  })
}

const changeText: Write = async (subject, options) => {
  const { en, de } = subject.state.text
  const path = `${base(options)}/api/texts/${subject.textId}`
  const next = Math.max(en, de ?? 0) + 1
  const ways: readonly (() => Promise<void>)[] = [
    () => subject.write({ text: { en: next, de } }, () => send(path, 'PUT', { value: next })),
    () => subject.write({ text: { en, de: next } }, () => send(`${path}?locale=de`, 'PUT', { value: next })),
    () => subject.write({ text: { en, de: null } }, () => send(`${path}?locale=de`, 'DELETE')),
    () =>
      subject.write({ text: { en: next, de: de === null ? null : next } }, () =>
        options.client.query('UPDATE texts SET value = $1 WHERE document_id = $2', [next, subject.textId]),
      ),
  ]
  return ways[options.random(ways.length)]?.()
}

/** A statement of more rows than are recorded one by one. */
const updateMany: Write = async (subject, options) => {
  const draft = raised(options, subject.state)
  const { published } = subject.state
  if (!draft || subject.name !== FIRST) return
  const next = { draft, published: published && { ...published, ...valuesOf(draft) } }
  await subject.write(next, () =>
    options.client.query(
      `UPDATE notes SET value = CASE WHEN name = $4 THEN $1 ELSE value END, rating = CASE WHEN name = $4 THEN $2 ELSE rating END,
       title = CASE WHEN name = $4 THEN $3 ELSE title END WHERE name = $4 OR name LIKE 'zz%'`,
      [draft.value, draft.rating, draft.title, subject.name],
    ),
  )
}

const WRITES: readonly Write[] = [
  ...[update, update, setRelations, mutate, unpublish, deleteNote, changeShelf],
  ...[updateInSql, updateInSql, copyMark, changeFile, changeText, updateMany],
]

/** One random write. */
export const writeOnce: Write = (subject, options) =>
  WRITES[options.random(WRITES.length)]?.(subject, options) ?? Promise.resolve()

export async function connect(url: string): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  return client
}
