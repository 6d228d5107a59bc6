import pg from 'pg'
import { createTestApp, type TestAnswer, type TestApp, type TestResult } from '../../../core/testing.ts'
import { createDatabase, testServer } from '../../harness/test-database.ts'
import type { Test } from '../own-process.ts'
import { openStatementGate, type StatementGate } from '../statement-gate.ts'
import { type Bulk, openBulk } from './bulk.ts'

/** Kinds of relations between an owner and a target. `inverse`: the target has the other side, too. */
export const KINDS = {
  oneToOne: { relation: 'oneToOne', inverse: 'oneToOne' },
  manyToOne: { relation: 'manyToOne', inverse: 'oneToMany' },
  manyToMany: { relation: 'manyToMany', inverse: 'manyToMany' },
  toOne: { relation: 'manyToOne', inverse: null },
  toMany: { relation: 'manyToMany', inverse: null },
} as const

export type Kind = keyof typeof KINDS

/** Which of the two types have drafts: the owner's, the target's. `localized`: both, and both are translated. */
export const SHAPES = ['both', 'owner', 'target', 'neither', 'localized'] as const

/** `owner`: the document with the relation; `target`: that which it leads to. */
export type Side = 'owner' | 'target'

export type Shape = (typeof SHAPES)[number]

const SECRET = 'full-access-for-the-tests-of-races'

/** Of a token that reads and writes only documents with a small `n`. */
export const RULED_SECRET = 'ruled-access-for-the-tests-of-races'

const RULED = { where: { n: { $lt: 7 } } }

const RULES = Object.fromEntries(['find', 'findOne', 'update', 'delete'].map(action => [action, RULED]))

export const hasDrafts = (shape: Shape, side: Side): boolean =>
  shape === 'both' || shape === 'localized' || shape === side

const LOCALES = ['en', 'fr']

type Declarations = Record<string, Readonly<Record<string, unknown>>>

/** The attribute that holds a kind's link; that of the other side has the same name. */
function attributesOf(side: Side): Declarations {
  const attributes: Declarations = {
    label: { type: 'string' },
    round: { type: 'string' },
    n: { type: 'integer', localized: false },
  }
  for (const [kind, { relation, inverse }] of Object.entries(KINDS)) {
    const type = { type: 'relation', target: side === 'owner' ? 'target' : 'owner' }
    if (side === 'owner') attributes[kind] = { ...type, relation, ...(inverse && { inversedBy: kind }) }
    else if (inverse) attributes[kind] = { ...type, relation: inverse, mappedBy: kind }
  }
  return attributes
}

const SIDES: readonly Side[] = ['owner', 'target']

function projectOf(shape: Shape): Readonly<Record<string, unknown>> {
  const typeOf = (side: Side) => ({
    draftAndPublish: hasDrafts(shape, side),
    ...(shape === 'localized' && { localized: true }),
    attributes: attributesOf(side),
  })
  return {
    name: 'Races',
    i18n: { locales: LOCALES, defaultLocale: 'en' },
    server: { rateLimit: { api: false, auth: false } },
    graphql: { enabled: true },
    contentTypes: Object.fromEntries(SIDES.map(side => [side, typeOf(side)])),
    apiTokens: {
      full: { type: 'full-access', secret: SECRET },
      ruled: { type: 'custom', secret: RULED_SECRET, permissions: { owner: RULES, target: RULES } },
    },
  }
}

/** A server, and the commands that an owner runs during its requests. */
export interface Instance extends Bulk {
  readonly app: TestApp
}

/** One database with two instances: the statements of the first can be held back. */
export interface World {
  readonly shape: Shape
  readonly held: Instance
  readonly free: Instance
  readonly gate: StatementGate
  /** Sessions of this database that wait for another's lock. */
  waiting(): Promise<number>
  /** The tables whose links lead to documents that are not there. */
  dangling(): Promise<readonly string[]>
}

export async function openWorld(t: Test, shape: Shape): Promise<World> {
  const server = testServer()
  if (!server) throw new Error('TEST_DATABASE_URL is not set')
  const url = await createDatabase(t, server)
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  t.teardown(() => client.end())
  const { rows } = await client.query('SELECT current_database() AS name')
  await client.query(`ALTER DATABASE ${rows[0].name} SET deadlock_timeout = '20ms'`)
  const gate = await openStatementGate(t, url)
  const project = projectOf(shape)
  const open = async (database: string): Promise<Instance> => {
    const app = await createTestApp({ project, database })
    t.teardown(() => app.close())
    return { app, ...(await openBulk(t, project, database)) }
  }
  const free = await open(url)
  const held = await open(gate.url)
  const dangling = await printDangling(client)
  return {
    shape,
    held,
    free,
    gate,
    async waiting() {
      const found = await client.query(
        `SELECT count(*)::integer AS count FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`,
      )
      return Number(found.rows[0].count)
    },
    async dangling() {
      const counts = await client.query(dangling)
      return counts.rows.map(({ place, count }) => `${count} dangling links in ${place}`)
    },
  }
}

/** A query that counts the links to missing documents in each place that has some. */
async function printDangling(client: pg.Client): Promise<string> {
  const { rows } = await client.query(
    `SELECT table_name, column_name FROM information_schema.columns
     WHERE table_schema = current_schema() AND (table_name ~ '^(owners|targets)$' AND column_name ~ '_key$' AND column_name <> 'document_key'
       OR table_name ~ '^(owners|targets)_.*_links$' AND column_name = 'target_key')`,
  )
  const keyed = await client.query(
    `SELECT table_name FROM information_schema.columns WHERE table_schema = current_schema() AND column_name = 'document_key'`,
  )
  const counts = rows.map(({ table_name: table, column_name: column }) => {
    const target = table.startsWith('owners') ? 'targets' : 'owners'
    const key = keyed.rows.some(({ table_name }) => table_name === target) ? 'document_key' : 'id'
    return `SELECT '${table}.${column}' AS place, count(*) FROM ${table} l WHERE ${column} IS NOT NULL AND NOT EXISTS (SELECT FROM ${target} t WHERE t.${key} = l.${column})`
  })
  return `SELECT * FROM (${counts.join(' UNION ALL ')}) AS counted WHERE count > 0`
}

/** The documents of a round: two owners, two targets, and those that an action makes. */
export interface Cast {
  readonly kind: Kind
  readonly shape: Shape
  readonly round: string
  readonly owner: string
  readonly otherOwner: string
  readonly target: string
  readonly otherTarget: string
}

export const uidOf = (side: Side): string => `api::${side}.${side}`

export const pathOf = (side: Side): string => `/api/${side}s`

export const isTwoWay = (kind: Kind): boolean => KINDS[kind].inverse !== null

/** True if the attribute of this side holds a list. */
export function isList(kind: Kind, side: Side): boolean {
  const relation = side === 'owner' ? KINDS[kind].relation : KINDS[kind].inverse
  return relation === 'oneToMany' || relation === 'manyToMany'
}

export const ask = (
  { app }: Pick<Instance, 'app'>,
  method: string,
  path: string,
  data?: unknown,
  token = SECRET,
): Promise<TestAnswer> =>
  app.request(method, path, { token, ...(data === undefined ? {} : { body: { data } }) })

export const askGraphql = (
  { app }: Pick<Instance, 'app'>,
  query: string,
  variables: Readonly<Record<string, unknown>>,
): Promise<TestResult> => app.graphql(query, variables, { token: SECRET })

/** Every version of the round's documents with their links, by label: what two runs of it are compared by. */
export async function readState({ free, dangling }: World, { shape, kind, round }: Cast): Promise<string> {
  const filter = `filters[round][$eq]=${round}&pagination[pageSize]=100`
  const lines = versionsOf(shape).map(async ({ side, query }) => {
    const populate = isTwoWay(kind) || side === 'owner' ? `&populate=${kind}` : ''
    const { status, body } = await ask(free, 'GET', `${pathOf(side)}?${filter}${populate}&${query}`)
    if (status !== 200) throw new Error(JSON.stringify(body))
    return (body as { data: Document[] }).data.map(
      document => `${side} ${query} ${document.label} n=${document.n} -> ${labelsOf(document[kind])}`,
    )
  })
  return [...(await Promise.all(lines)).flat().sort(), ...(await dangling())].join('\n')
}

function versionsOf(shape: Shape): readonly { readonly side: Side; readonly query: string }[] {
  const locales = shape === 'localized' ? LOCALES.map(locale => `&locale=${locale}`) : ['']
  return SIDES.flatMap(side =>
    (hasDrafts(shape, side) ? ['draft', 'published'] : ['published']).flatMap(status =>
      locales.map(locale => ({ side, query: `status=${status}${locale}` })),
    ),
  )
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
