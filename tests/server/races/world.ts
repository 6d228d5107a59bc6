import pg from 'pg'
import { createTestApp, type TestAnswer, type TestApp } from '../../../core/testing.ts'
import { createDatabase, testServer } from '../../support/database.ts'
import type { Test } from '../own-process.ts'
import { openStatementGate, type StatementGate } from '../statement-gate.ts'

/** Kinds of relations between an owner and a target. `inverse`: the target has the other side, too. */
export const KINDS = {
  oneToOne: { relation: 'oneToOne', inverse: 'oneToOne' },
  manyToOne: { relation: 'manyToOne', inverse: 'oneToMany' },
  manyToMany: { relation: 'manyToMany', inverse: 'manyToMany' },
  toOne: { relation: 'manyToOne', inverse: null },
  toMany: { relation: 'manyToMany', inverse: null },
} as const

export type Kind = keyof typeof KINDS

/** Which of the two types have drafts: the owner's, the target's. */
export const DRAFTS = ['both', 'owner', 'target', 'neither'] as const

export type Drafts = (typeof DRAFTS)[number]

const SECRET = 'full-access-for-the-tests-of-races'

const ownerOf = (drafts: Drafts): string => `owner-${drafts}`
const targetOf = (drafts: Drafts): string => `target-${drafts}`

export const hasDrafts = (drafts: Drafts, side: 'owner' | 'target'): boolean =>
  drafts === 'both' || drafts === side

type Declarations = Record<string, Readonly<Record<string, unknown>>>

/** The attribute that holds a kind's link; that of the other side has the same name. */
function attributesOf(side: 'owner' | 'target', other: string): Declarations {
  const attributes: Declarations = {
    label: { type: 'string' },
    round: { type: 'string' },
    n: { type: 'integer' },
  }
  for (const [kind, { relation, inverse }] of Object.entries(KINDS)) {
    const type = { type: 'relation', target: other }
    if (side === 'owner') attributes[kind] = { ...type, relation, ...(inverse && { inversedBy: kind }) }
    else if (inverse) attributes[kind] = { ...type, relation: inverse, mappedBy: kind }
  }
  return attributes
}

function project(): Readonly<Record<string, unknown>> {
  const contentTypes: Declarations = {}
  for (const drafts of DRAFTS) {
    const [owner, target] = [ownerOf(drafts), targetOf(drafts)]
    contentTypes[owner] = {
      draftAndPublish: hasDrafts(drafts, 'owner'),
      attributes: attributesOf('owner', target),
    }
    contentTypes[target] = {
      draftAndPublish: hasDrafts(drafts, 'target'),
      attributes: attributesOf('target', owner),
    }
  }
  return {
    name: 'Races',
    server: { rateLimit: { api: false, auth: false } },
    contentTypes,
    apiTokens: { full: { type: 'full-access', secret: SECRET } },
  }
}

/** One database, two servers: the statements of the first can be held back. */
export interface World {
  readonly held: TestApp
  readonly free: TestApp
  readonly gate: StatementGate
  /** Sessions of this database that wait for another's lock. */
  waiting(): Promise<number>
}

export async function openWorld(t: Test): Promise<World> {
  const server = testServer()
  if (!server) throw new Error('TEST_DATABASE_URL is not set')
  const url = await createDatabase(t, server)
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  t.teardown(() => client.end())
  const { rows } = await client.query('SELECT current_database() AS name')
  await client.query(`ALTER DATABASE ${rows[0].name} SET deadlock_timeout = '20ms'`)
  const gate = await openStatementGate(t, url)
  const open = async (database: string) => {
    const app = await createTestApp({ project: project(), database })
    t.teardown(() => app.close())
    return app
  }
  const free = await open(url)
  const held = await open(gate.url)
  return {
    held,
    free,
    gate,
    async waiting() {
      const found = await client.query(
        `SELECT count(*)::integer AS count FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`,
      )
      return Number(found.rows[0].count)
    },
  }
}

/** The documents of a round: two owners, two targets, and those that an action makes. */
export interface Cast {
  readonly kind: Kind
  readonly drafts: Drafts
  readonly round: string
  readonly owner: string
  readonly otherOwner: string
  readonly target: string
  readonly otherTarget: string
}

export const uidOf = (drafts: Drafts, side: 'owner' | 'target'): string => {
  const name = side === 'owner' ? ownerOf(drafts) : targetOf(drafts)
  return `api::${name}.${name}`
}

export const pathOf = (drafts: Drafts, side: 'owner' | 'target'): string =>
  `/api/${side === 'owner' ? ownerOf(drafts) : targetOf(drafts)}s`

export const ask = (app: TestApp, method: string, path: string, data?: unknown): Promise<TestAnswer> =>
  app.request(method, path, { token: SECRET, ...(data === undefined ? {} : { body: { data } }) })

/** Every version of the round's documents with their links, by label: what two runs of it are compared by. */
export async function readState({ free }: World, { drafts, kind, round }: Cast): Promise<string> {
  const lines: string[] = []
  for (const side of ['owner', 'target'] as const)
    for (const status of hasDrafts(drafts, side) ? ['draft', 'published'] : ['published']) {
      const query = `filters[round][$eq]=${round}&populate=*&status=${status}&pagination[pageSize]=100`
      const { status: code, body } = await ask(free, 'GET', `${pathOf(drafts, side)}?${query}`)
      if (code !== 200) throw new Error(JSON.stringify(body))
      for (const document of (body as { data: Document[] }).data)
        lines.push(`${side} ${status} ${document.label} n=${document.n} -> ${labelsOf(document[kind])}`)
    }
  return lines.sort().join('\n')
}

interface Document {
  readonly documentId: string
  readonly label: string
  readonly [attribute: string]: unknown
}

function labelsOf(value: unknown): string {
  const list = Array.isArray(value) ? value : value ? [value] : []
  return list
    .map(each => (each as Document).label)
    .sort()
    .join(',')
}
