import test from 'ava'
import pg from 'pg'
import { FULL, openTwoApps, type TwoApps } from '../cache/two-apps.ts'
import { testServer } from '../harness/test-database.ts'

// Versions of tables where transactions overlap: sums over shards that several of them move.

const PROJECT = `
name: Overlap
server: { rateLimit: { api: false, auth: false } }
contentTypes:
  shelf: { attributes: { name: string } }
  note: { attributes: { title: string, shelf: { type: relation, relation: manyToOne, target: shelf } } }
apiTokens: { full: { type: full-access, secret: ${FULL} } }
`

const READS = [
  '/api/notes?sort=title&populate=shelf',
  '/api/notes?pagination[pageSize]=1&pagination[page]=2',
  '/api/notes/of-0?populate=shelf',
  '/api/shelves?pagination[withCount]=false',
  `/graphql?query=${encodeURIComponent('{ notes { data { attributes { title } } meta { pagination { total } } } }')}`,
]

/** Numbers below 1, the same ones for the same seed (Park and Miller). */
function chances(seed: number): () => number {
  let state = seed
  return () => {
    state = (state * 48271) % 2147483647
    return state / 2147483647
  }
}

/** One session that writes rows of its own, in transactions of any length. */
class Writer {
  readonly #client: pg.Client
  readonly #name: string
  #depth = 0
  #count = 0

  constructor(client: pg.Client, name: string) {
    this.#client = client
    this.#name = name
  }

  /** Answers what it did. A statement that waits for another writer fails. */
  async step(chance: () => number): Promise<string> {
    const text = this.#next(chance)
    await this.#client.query(text)
    return `${this.#name}: ${text}`
  }

  #next(chance: () => number): string {
    const dice = chance()
    if (this.#depth === 0 && dice < 0.5) {
      this.#depth = 1
      return chance() < 0.5 ? 'BEGIN' : 'BEGIN ISOLATION LEVEL REPEATABLE READ'
    }
    if (this.#depth > 0 && dice < 0.2) return this.#end(chance() < 0.7 ? 'COMMIT' : 'ROLLBACK')
    if (this.#depth === 1 && dice < 0.3) {
      this.#depth = 2
      return 'SAVEPOINT s'
    }
    if (this.#depth === 2 && dice < 0.4) {
      this.#depth = 1
      return 'ROLLBACK TO s'
    }
    return this.#write(chance)
  }

  #end(word: string): string {
    this.#depth = 0
    return word
  }

  #write(chance: () => number): string {
    const own = `of-${this.#name}`
    const title = `${this.#name}-${++this.#count}`
    const writes = [
      `UPDATE notes SET title = '${title}' WHERE document_id = '${own}'`,
      `UPDATE shelves SET name = '${title}' WHERE document_id = '${own}'`,
      `INSERT INTO notes (document_id, title, created_at, updated_at, published_at) VALUES ('${title}', '${title}', now(), now(), now())`,
      `DELETE FROM notes WHERE title LIKE '${this.#name}-%' AND document_id <> '${own}'`,
    ]
    return writes[Math.floor(chance() * writes.length)] ?? ''
  }
}

/** Each with a note on a shelf, and both for itself. */
async function openWriters(
  t: { teardown(end: () => Promise<void>): void },
  { database, plain }: TwoApps,
): Promise<Writer[]> {
  const { rows } = await database.run({ text: 'SELECT current_database()', values: [] })
  const url = new URL(testServer() ?? '')
  url.pathname = `/${rows[0]?.[0]}`
  const writers: Writer[] = []
  for (const name of ['0', '1', '2']) {
    const client = new pg.Client({ connectionString: url.href })
    await client.connect()
    t.teardown(() => client.end())
    await client.query(`SET lock_timeout = '5s'`)
    for (const [table, column] of [['shelves', 'name'] as const, ['notes', 'title'] as const])
      await client.query(
        `INSERT INTO ${table} (document_id, ${column}, created_at, updated_at, published_at) VALUES ('of-${name}', '${name}-0', now(), now(), now())`,
      )
    await plain.data('PUT', `/api/notes/of-${name}`, { shelf: `of-${name}` })
    writers.push(new Writer(client, name))
  }
  return writers
}

for (const seed of [1, 2, 3])
  test.serial(`cached responses equal fresh reads, for any overlap of transactions (${seed})`, async t => {
    const apps = await openTwoApps(PROJECT)
    t.teardown(() => apps.close())
    const { cached, plain } = apps
    const writers = await openWriters(t, apps)
    const chance = chances(seed)
    const done: string[] = []
    let kept = 0
    for (let step = 0; step < 120; step++) {
      const writer = writers[Math.floor(chance() * writers.length)]
      if (writer) done.push(await writer.step(chance))
      if (chance() < 0.4) continue
      for (const path of READS) {
        cached.statements()
        const reported = await cached.ask('GET', path, { as: FULL })
        if (cached.statements().join() === 'prove an answer') kept++
        const right = await plain.ask('GET', path, { as: FULL })
        if (reported.text !== right.text) t.is(reported.text, right.text, `${path} after\n${done.join('\n')}`)
      }
    }
    t.true(kept > 20, `${kept} answers were kept ones`)
  })
