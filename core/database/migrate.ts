import { PRODUCT_VERSION } from '../base/product.ts'
import { failed, ok, type Result } from '../base/result.ts'
import type { Table } from '../model/storage.ts'
import { bootstrap } from './bootstrap.ts'
import { printVersionsStorage } from './bootstrap-versions.ts'
import type { Database, Transaction } from './database.ts'
import { toDatabaseFault } from './database-fault.ts'
import { runPlain, type Site } from './run-plain.ts'
import type { Catalogue } from './schema-catalogue.ts'
import { type Runner, readCatalogue } from './schema-catalogue-read.ts'
import {
  includes,
  inOrder,
  type Left,
  refusal,
  type SchemaRefusal,
  type Step,
  type Weight,
} from './schema-finding.ts'
import { hashSchema } from './schema-hash.ts'
import { judge, needed } from './schema-judge.ts'
import { MANY_ROWS } from './schema-pair.ts'
import { planSchema, type SchemaPlan } from './schema-plan.ts'
import { isRecorded, record, recordTables } from './schema-record.ts'

export interface MigrationReport {
  /** What was done, a line each; none where the schema was as the model wants it. */
  readonly steps: readonly string[]
  /** What Plinth made, nobody wants and holds nothing: left as it is. */
  readonly left: readonly Left[]
}

/** Milliseconds. */
export interface MigrationLimits {
  /** How long to wait for another process that migrates. */
  readonly turn: number
  /** How long to wait for those who use a table that is to be changed. */
  readonly lock: number
  /** How long one statement may take. */
  readonly statement: number
}

const LIMITS: MigrationLimits = { turn: 60_000, lock: 10_000, statement: 300_000 }

/** New tables in one transaction: each holds locks to its end, and PostgreSQL has room for some thousands. */
const TABLES_AT_ONCE = 300

/** What `plinth_migrations` says of a transaction after which there is more to do. */
const UNFINISHED = 'unfinished'

export interface MigrationTerms {
  readonly limits?: MigrationLimits
  /** What the migration may cost; safe where absent. */
  readonly allowing?: Weight
  /** Rows beyond which a table is large: what locks one is slow. */
  readonly manyRows?: number
}

/**
 * Brings the database to the model's tables: everything that costs no more than is allowed, in one transaction, under
 * an advisory lock; or nothing at all, and every reason why not. (Of very many new tables some are made in transactions before:
 * empty tables that the next start goes on from.) Rejects where the database is not reachable.
 */
export async function migrate(
  database: Database,
  tables: readonly Table[],
  { limits = LIMITS, allowing = 'safe', manyRows = MANY_ROWS }: MigrationTerms = {},
): Promise<Result<MigrationReport, SchemaRefusal>> {
  const hash = hashSchema(database.schema, tables)
  const task = { tables, hash, limits, allowing, manyRows }
  if (await isDone(database, database.schema, task)) return ok(NOTHING)
  try {
    return ok(await migrateInRounds(database, task))
  } catch (error) {
    return failed(...refusalsOf(error, limits))
  }
}

const NOTHING: MigrationReport = { steps: [], left: [] }

interface Task extends Required<MigrationTerms> {
  readonly tables: readonly Table[]
  readonly hash: string
}

/** What the last migration left although nobody wants it may go now. */
const isDone = async (runner: Runner, schema: string, { hash, allowing }: Task): Promise<boolean> =>
  allowing !== 'destructive' && (await isRecorded(runner, schema, hash))

interface Round extends MigrationReport {
  readonly complete: boolean
}

async function migrateInRounds(database: Database, task: Task): Promise<MigrationReport> {
  const work = (transaction: Transaction) => migrateInTurn({ database, transaction }, task)
  const round = await database.transaction(work, { statementTimeout: task.limits.statement })
  if (round.complete) return { steps: round.steps, left: round.left }
  const rest = await migrateInRounds(database, task)
  return { steps: [...round.steps, ...rest.steps], left: rest.left }
}

async function migrateInTurn(site: Site, task: Task): Promise<Round> {
  const { database, transaction } = site
  await takeTurn(transaction, database.schema, task.limits)
  if (await isDone(transaction, database.schema, task)) return { ...NOTHING, complete: true }
  await bootstrap(site)
  const catalogue = await readCatalogue(transaction, database.schema, task.manyRows)
  const plan = planSchema(task.tables, catalogue)
  const { refusals, costs } = await judge(transaction, plan)
  const dear = costs.filter(({ price }) => !includes(task.allowing, price.weight))
  const against = [...refusals, ...dear.map(cost => cost.refusal)]
  if (against.length > 0) throw new MigrationRefused(against)
  const part = plan.renamedTables.size > 0 ? null : firstTables(task.tables, catalogue)
  if (part === null) return { ...(await apply(site, task, { catalogue, plan })), complete: true }
  const first = { ...task, tables: part, hash: UNFINISHED }
  return { ...(await apply(site, first, { catalogue, plan: planTables(part, catalogue) })), complete: false }
}

/** The new tables to begin with; null where they are few enough to be made with all the rest. */
function firstTables(tables: readonly Table[], catalogue: Catalogue): readonly Table[] | null {
  const missing = tables.filter(table => !catalogue.tables.has(table.name))
  return missing.length > TABLES_AT_ONCE ? missing.slice(0, TABLES_AT_ONCE) : null
}

/** These tables alone: nothing else counts as changed or vanished. */
const planTables = (tables: readonly Table[], catalogue: Catalogue): SchemaPlan =>
  planSchema(tables, { ...catalogue, made: new Map() })

interface Findings {
  readonly catalogue: Catalogue
  readonly plan: SchemaPlan
}

async function apply(
  site: Site,
  { tables, hash, allowing }: Task,
  { catalogue, plan }: Findings,
): Promise<MigrationReport> {
  const { database, transaction } = site
  const [left, dropped] = allowing === 'destructive' ? [[], plan.left] : [plan.left, []]
  const steps = await needed(transaction, inOrder([...plan.steps, ...dropped.flatMap(one => one.drop)]))
  await runPlain(site, [...statementsOf(steps), printVersionsStorage(database.schema)])
  await recordTables(site, tables, { ...plan, left, dropped }, catalogue)
  const summaries = steps.map(step => step.summary)
  await record(site, { product: PRODUCT_VERSION, hash, steps: summaries })
  return { steps: summaries, left }
}

const statementsOf = (steps: readonly Step[]): readonly string[] => steps.flatMap(step => step.statements)

async function takeTurn(transaction: Transaction, schema: string, limits: MigrationLimits): Promise<void> {
  await limitLocks(transaction, limits.turn)
  try {
    await transaction.lock(`plinth migration of ${schema}`)
  } catch (error) {
    if (toDatabaseFault(error)?.kind !== 'timeout') throw error
    const waited = `another process has been migrating this database for over ${seconds(limits.turn)}`
    throw new MigrationRefused([refusal('busy', null, `${waited}: start again when it is done`)])
  }
  await limitLocks(transaction, limits.lock)
}

const limitLocks = (transaction: Transaction, milliseconds: number) =>
  transaction.run({ text: `SELECT set_config('lock_timeout', $1, true)`, values: [String(milliseconds)] })

const seconds = (milliseconds: number): string => `${milliseconds / 1000} s`

/** Carries refusals out of the transaction, which is rolled back by it. */
class MigrationRefused extends Error {
  override readonly name = 'MigrationRefused'
  readonly refusals: readonly SchemaRefusal[]

  constructor(refusals: readonly SchemaRefusal[]) {
    super('the migration was refused')
    this.refusals = refusals
  }
}

function refusalsOf(error: unknown, limits: MigrationLimits): readonly SchemaRefusal[] {
  if (error instanceof MigrationRefused) return error.refusals
  const fault = toDatabaseFault(error)
  if (fault === undefined || fault.kind === 'unavailable') throw error
  if (fault.kind !== 'timeout')
    return [refusal('database', null, `PostgreSQL refused a change: ${fault.message}`)]
  const bounds = `a table was in use for over ${seconds(limits.lock)}, or a change took over ${seconds(limits.statement)}`
  return [
    refusal(
      'busy',
      null,
      `${bounds} (${fault.message}): nothing was changed; start again when the database is less busy`,
    ),
  ]
}
