import { decide } from '../access/decide.ts'
import { PUBLIC, resolveHolders } from '../access/holders.ts'
import type { Database } from '../database/database.ts'
import type { MigrationPlan } from '../migrate/plan-migration.ts'
import { compileStorage } from '../model/compile-storage.ts'
import type { ContentType, Model } from '../model/model.ts'
import type { Storage } from '../model/storage.ts'
import { declaredIndex, textIndex } from '../model/type-indexes.ts'
import type { Settings } from '../project/settings/settings.ts'
import { type Advice, counted } from './advice.ts'
import { lookAtReads, type ReadCheckContext } from './check-reads.ts'
import type { SlowRead } from './slow-reads.ts'
import {
  type IndexNumbers,
  readStatistics,
  type TableNumbers,
  type TableStatistics,
} from './table-statistics.ts'

export interface Examination extends SettingsOptions, Omit<ReadCheckContext, 'rowsIn'> {
  readonly database: Database
  readonly reads: readonly SlowRead[]
  /** The pending migration. */
  readonly plan: Pick<MigrationPlan, 'steps' | 'refusals'>
}

/** Checks settings, tables and slow reads. Returns faults first. */
export async function examine(options: Examination): Promise<readonly Advice[]> {
  const { database, storage, settings, plan } = options
  const numbers = await readStatistics(
    database,
    storage.tables.map(({ name }) => name),
  )
  const rows = new Map(numbers.tables.map(table => [table.name, table.rows]))
  const isThere = numbers.tables.length >= storage.tables.length
  const advice = [
    ...lookAtSettings(options, numbers),
    ...lookAtDrafts(settings, options.model),
    ...migrationOf(plan),
    ...lookAtTables(numbers, { ...options, hasReplicas: settings.database.replicas.length > 0 }),
    ...(isThere
      ? await lookAtReads(options.reads, { ...options, rowsIn: table => rows.get(table) ?? 0 })
      : []),
  ]
  return [...advice.filter(isFault), ...advice.filter(one => !isFault(one))]
}

export const isFault = ({ severity }: Advice): boolean => severity === 'fault'

function migrationOf({ steps, refusals }: Examination['plan']): readonly Advice[] {
  const count = steps.length + refusals.length
  if (count === 0) return []
  const found = `${counted(count)} ${count === 1 ? 'thing' : 'things'} of the database differ from what the project wants`
  return [
    {
      severity: 'advice',
      code: 'not-migrated',
      about: 'database',
      found,
      remedy: '`plinth plan` shows them',
    },
  ]
}

interface SettingsOptions {
  readonly settings: Settings
  readonly production: boolean
  /** Serving processes on this machine. */
  readonly workers: number
}

/** Advice on slow or unsafe settings. */
const lookAtSettings = (options: SettingsOptions, numbers: TableStatistics | null): readonly Advice[] => [
  ...lookAtSafety(options),
  ...lookAtSpeed(options),
  ...(numbers ? [...connectionsOf(options, numbers), ...replicasOf(options, numbers)] : []),
]

function* lookAtSafety({ settings, production }: SettingsOptions): Generator<Advice> {
  const { auth, database, server } = settings
  for (const [about, secret] of [
    ['auth.jwtSecret', auth.jwtSecret],
    ...auth.jwtPreviousSecrets.map((each, index) => [`auth.jwtPreviousSecrets.${index}`, each] as const),
  ] as const) {
    if (!isWeak(secret)) continue
    yield {
      severity: 'fault',
      code: 'weak-secret',
      about,
      found:
        'the secret that sessions are signed with can be guessed: it repeats itself, or is made of words',
      remedy: 'take a random one (`openssl rand -base64 32`); it signs all users out',
    }
  }
  if (production && database.url === 'embedded')
    yield {
      severity: 'advice',
      code: 'embedded',
      about: 'database.url',
      found:
        'in production the embedded database serves one process, has no replicas, and its backup is a copy of .plinth/ while nothing runs',
      remedy:
        'name a PostgreSQL server where more than one machine or process is to serve, or what is in it matters',
    }
  for (const limit of ['auth', 'account'] as const)
    if (production && server.rateLimit[limit] === false)
      yield {
        severity: 'advice',
        code: 'no-limit',
        about: `server.rateLimit.${limit}`,
        found: 'passwords can be tried without end',
        remedy: 'leave it out, for the limit that is standard',
      }
  if (database.statementTimeout === 0)
    yield {
      severity: 'advice',
      code: 'no-timeout',
      about: 'database.statementTimeout',
      found: 'a statement may hold its connection for ever',
      remedy: 'leave it out (15 s), or give it a time',
    }
}

/** 32 random hexadecimal digits almost always have at least this many distinct characters. */
const VARIETY = 8

const isWeak = (secret: string): boolean =>
  secret !== '' &&
  (new Set(secret).size < VARIETY ||
    isRepeated(secret) ||
    /change.?me|your.?secret|example|placeholder|not.?secret|password|123456789|abcdefgh/i.test(secret))

/** Matches texts that repeat a short sequence. */
const LONGEST_UNIT = 16

function isRepeated(secret: string): boolean {
  for (let length = 1; length <= LONGEST_UNIT && 2 * length <= secret.length; length++)
    if (secret.length % length === 0 && secret.slice(0, length).repeat(secret.length / length) === secret)
      return true
  return false
}

function* lookAtSpeed({ settings, production }: SettingsOptions): Generator<Advice> {
  if (production && !(settings.cache.enabled && settings.cache.maxBytes > 0))
    yield {
      severity: 'advice',
      code: 'no-cache',
      about: 'cache',
      found: 'every response is computed again, even if nothing has changed',
      remedy: 'leave `cache` out: what is kept is proved by a statement, and never stale',
    }
  if (settings.server.slowQuery === 0)
    yield {
      severity: 'advice',
      code: 'no-slow-log',
      about: 'server.slowQuery',
      found: 'slow reads are not logged',
      remedy: 'leave it out (1 s), or give it a time, and hand this command the log',
    }
}

function connectionsOf(
  { settings, workers }: SettingsOptions,
  { connections }: TableStatistics,
): readonly Advice[] {
  const { url, pool } = settings.database
  // One more shows the process to others (core/database/generations/processes.ts).
  const wanted = workers * (pool.max + 1)
  if (url === 'embedded' || wanted <= connections) return []
  const processes =
    workers === 1
      ? `one process of up to ${pool.max} connections, and one more, wants`
      : `${workers} processes of up to ${pool.max} connections, and one more each, want`
  return [
    {
      severity: 'fault',
      code: 'connections',
      about: 'database.pool.max',
      found: `${processes} ${wanted}; the server gives this user ${connections}`,
      remedy: `at most ${Math.max(1, Math.floor(connections / workers) - 1)}, or a pooler (docs/scale.md)`,
    },
  ]
}

const replicasOf = ({ settings }: SettingsOptions, { replicas }: TableStatistics): readonly Advice[] => {
  const { database } = settings
  if (database.replicas.length === 0) return []
  return replicas
    .filter(({ behind }) => behind > database.replicaLag)
    .map(({ name, behind }) => ({
      severity: 'advice',
      code: 'replica-behind',
      about: 'database.replicas',
      found: `replica "${name}" is ${Math.round(behind / 1000)} s behind, more than \`replicaLag\`: it answers nothing`,
      remedy: 'see what it waits for: its disk, long reads on it, or the network',
    }))
}

interface TableOptions {
  readonly model: Model
  readonly storage: Storage
  /** Replicas use indexes too, but their statistics are not visible here. */
  readonly hasReplicas: boolean
}

/** Advice from PostgreSQL's statistics on the project's tables. */
function lookAtTables({ tables, counting }: TableStatistics, options: TableOptions): readonly Advice[] {
  const origins = originsOf(options)
  const isCounted = counting >= WEEK && !options.hasReplicas
  return tables.flatMap(table => [
    ...versionOf(table, options.storage),
    ...statisticsOf(table),
    ...deadRowsOf(table),
    ...table.indexes.flatMap(index => lookAtIndex(index, { table, origins, isCounted, counting })),
  ])
}

const DAY = 86_400_000
const WEEK = 7 * DAY

/** The origin of an index; undefined: it was created manually. */
type Origins = ReadonlyMap<string, 'needed' | 'declared' | 'derived'>

function originsOf({ model, storage }: TableOptions): Origins {
  const namesIn = (each: Storage) => each.tables.flatMap(({ indexes }) => indexes.map(({ name }) => name))
  const declared = [...model.contentTypes.values()].flatMap(type =>
    [
      ...type.indexes.map(names => declaredIndex(type, names, storage)),
      ...type.textIndexes.map(name => textIndex(type, name, storage)),
    ].map(({ name }) => name),
  )
  return new Map([
    ...namesIn(storage).map(name => [name, 'derived'] as const),
    ...namesIn(compileStorage(model)).map(name => [name, 'needed'] as const),
    ...declared.map(name => [name, 'declared'] as const),
  ])
}

function versionOf({ name, versioned }: TableNumbers, { tables }: Storage): readonly Advice[] {
  if (versioned || !tables.some(table => table.name === name && table.versioned)) return []
  const found = 'writes to this table move no version, so answers that are kept may be stale'
  return [
    {
      severity: 'fault',
      code: 'no-version',
      about: name,
      found,
      remedy: '`plinth migrate` sets its trigger again',
    },
  ]
}

const MANY = 1_000

function statisticsOf({ name, rows, analyzed }: TableNumbers): readonly Advice[] {
  if (analyzed || rows < MANY) return []
  const found = `PostgreSQL never looked at the values of its ${counted(rows)} rows, and guesses when it plans`
  const remedy = `ANALYZE "${name}"; and see that autovacuum is on`
  return [{ severity: 'advice', code: 'no-statistics', about: name, found, remedy }]
}

function deadRowsOf({ name, rows, dead }: TableNumbers): readonly Advice[] {
  if (dead < 10 * MANY || dead < rows / 2) return []
  const found = `${counted(dead)} dead rows lie between ${counted(rows)} others, and every scan passes them`
  const remedy = `VACUUM "${name}"; something long open (a transaction, a replication slot) may keep autovacuum from it`
  return [{ severity: 'advice', code: 'dead-rows', about: name, found, remedy }]
}

interface IndexOptions {
  readonly table: TableNumbers
  readonly origins: Origins
  /** True if scans were counted for long enough to judge. */
  readonly isCounted: boolean
  readonly counting: number
}

function lookAtIndex(index: IndexNumbers, options: IndexOptions): readonly Advice[] {
  const { table, origins, isCounted, counting } = options
  const origin = origins.get(index.name)
  const about = table.name
  if (!index.valid && !index.underWay) {
    const found = `index "${index.name}" is invalid: making it failed, writes keep it up, and no read uses it`
    const remedy = origin ? '`plinth migrate` creates it again' : `DROP INDEX "${index.name}"`
    return [{ severity: 'fault', code: 'invalid-index', about, found, remedy }]
  }
  if (index.unique || origin === 'needed') return []
  const better = table.indexes.find(other => makesNeedless(other, index))
  const remedy = REMEDIES[origin ?? 'handmade'](index)
  if (better) {
    const found = `index "${index.name}" is how "${better.name}" begins: each write keeps up both`
    return [{ severity: 'advice', code: 'needless-index', about, found, remedy }]
  }
  if (!isCounted || index.scans > 0 || table.rows < 10 * MANY) return []
  const found = `index "${index.name}" (${counted(index.bytes / 1024)} kB) was used by no read in ${counted(counting / DAY)} days`
  return [{ severity: 'advice', code: 'unused-index', about, found, remedy }]
}

const REMEDIES = {
  declared: () => 'take it out of `indexes` of the content-type',
  derived: () =>
    'it follows from a permission or a stamp: `database: { indexes: declared }` leaves all such out',
  handmade: ({ name }: IndexNumbers) => `DROP INDEX "${name}"`,
}

/** Keeps the first of two equal indexes, by name. */
function makesNeedless(other: IndexNumbers, index: IndexNumbers): boolean {
  if (other.name === index.name || !other.valid || other.partial || index.partial) return false
  const begins = index.columns.every((column, at) => column !== null && other.columns[at] === column)
  if (!begins) return false
  return other.columns.length > index.columns.length || other.unique || other.name < index.name
}

/** The public roles, with the content-types whose drafts they can read. */
function* lookAtDrafts(settings: Settings, model: Model): Generator<Advice> {
  const { roles } = resolveHolders(settings)
  for (const { key, why } of rolesOfAnybody(settings)) {
    const cells = roles.get(key)
    if (!cells) continue
    const types = [...model.contentTypes.values()].filter(type => readsDrafts(cells, type))
    if (types.length > 0) yield adviceOn(key, why, types)
  }
}

type Cells = Parameters<typeof decide>[0]

const readsDrafts = (cells: Cells, type: ContentType): boolean =>
  type.draftAndPublish &&
  decide(cells, type, 'readDrafts').value !== false &&
  READS.some(action => decide(cells, type, action).value !== false)

const READS = ['find', 'findOne'] as const

function rolesOfAnybody({ auth }: Settings): readonly { readonly key: string; readonly why: string }[] {
  const { enabled, role } = auth.register
  return [
    { key: PUBLIC, why: 'anybody, without signing in' },
    ...(enabled && role !== PUBLIC ? [{ key: role, why: 'anybody who registers (`auth.register`)' }] : []),
  ]
}

const adviceOn = (key: string, why: string, types: readonly ContentType[]): Advice => ({
  severity: 'advice',
  code: 'public-drafts',
  about: `roles.${key}`,
  found: `${why} reads drafts of ${types.map(({ key: name }) => `\`${name}\``).join(', ')}`,
  remedy:
    'remove `readDrafts` where drafts are not for the public, or set it to `false` where `update` implies it',
})
