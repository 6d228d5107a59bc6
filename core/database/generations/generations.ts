import { LruCache } from '../../base/lru-cache.ts'
import { memoryBytes } from '../../base/text.ts'
import { withTimeout } from '../../base/with-timeout.ts'
import type { Table } from '../../model/storage.ts'
import { qualified, quoteConstant } from '../../sql/ddl.ts'
import type { Statement } from '../../sql/statement.ts'
import type { Database, Rows, RunOptions } from '../database.ts'
import { DatabaseFailure, type DatabaseFault, isOutcomeUnknown, toDatabaseFault } from '../database-fault.ts'
import type { DdlContext } from '../run-ddl.ts'
import { OUTDATED } from '../sqlstate.ts'

// A generation is the schema that a version of a project needs, as a hash (schema-hash.ts). `plinth_generations` lists the
// generations that the tables suit now. A migration that breaks older versions removes all others in its transaction. Every
// statement of a process checks its generation against that table, so an outdated process fails from the commit of the
// migration on.

/** The NOTIFY channel that announces migrations. */
export const GENERATION_CHANNEL = 'plinth_generation'

/** The number of compatible generations that are kept. Older ones become outdated. */
const MAX_GENERATIONS = 32

export const printGenerations = (schema: string): readonly string[] => [
  `CREATE TABLE IF NOT EXISTS ${qualified(schema, 'plinth_generations')} (
  hash text PRIMARY KEY,
  opened_at timestamptz(3) NOT NULL DEFAULT clock_timestamp()
)`,
  // Volatile: not evaluated at planning. Parallel safe: does not change plans.
  `CREATE OR REPLACE FUNCTION ${qualified(schema, 'plinth_outdated')}() RETURNS boolean LANGUAGE plpgsql VOLATILE PARALLEL SAFE AS ` +
    quoteConstant(
      `BEGIN RAISE EXCEPTION 'the tables were changed for another version of the project' USING ERRCODE = '${OUTDATED}'; END`,
    ),
]

/** SQL: whether the tables suit this generation. */
export const printIsCurrent = (schema: string, hash: string): string =>
  `EXISTS (SELECT FROM ${qualified(schema, 'plinth_generations')} WHERE hash = ${quoteConstant(hash)})`

/** A statement that fails if the tables do not suit this generation. */
export const requireGeneration = (schema: string, hash: string): Statement => ({
  text: `SELECT CASE WHEN ${printIsCurrent(schema, hash)} THEN true ELSE ${qualified(schema, 'plinth_outdated')}() END`,
  values: [],
  name: 'require the generation of the tables',
  keepsPlan: true,
})

interface GenerationChange {
  readonly hash: string
  /** True if processes of the previous generations may continue. */
  readonly isCompatible: boolean
}

/** Takes effect and is announced with the commit of the migration. */
export async function updateGenerations(
  { database: { schema }, transaction }: DdlContext,
  { hash, isCompatible }: GenerationChange,
): Promise<void> {
  const generations = qualified(schema, 'plinth_generations')
  const kept = isCompatible
    ? `(SELECT hash FROM ${generations} ORDER BY opened_at DESC, hash LIMIT ${MAX_GENERATIONS})`
    : '(SELECT NULL::text WHERE false)'
  await transaction.run({
    text: `DELETE FROM ${generations} WHERE hash <> $1 AND hash NOT IN ${kept}`,
    values: [hash],
    name: 'close generations',
  })
  await transaction.run({
    text: `INSERT INTO ${generations} (hash) VALUES ($1) ON CONFLICT (hash) DO UPDATE SET opened_at = excluded.opened_at`,
    values: [hash],
    name: 'open a generation',
  })
  // Each statement reads its few rows. Without statistics PostgreSQL uses the index, which costs more than one page.
  await transaction.run({ text: `ANALYZE ${generations}`, values: [] })
  await transaction.run({ text: 'SELECT pg_notify($1, $2)', values: [GENERATION_CHANNEL, schema] })
}

const TEXTS = { entries: 4000, bytes: 16_000_000 } as const

/**
 * Makes all statements fail unless the tables suit this generation. A read checks it in its own statement, so in its own
 * snapshot. A write checks it last, in the same transaction and round trip: by then it holds the locks of the tables that it
 * wrote. So a migration of those tables either has committed, and the check fails, or waits for the transaction to end.
 */
export function guardStatements(database: Database, hash: string): Database {
  const { schema } = database
  const guard = requireGeneration(schema, hash)
  const textOf = createTextGuard(printIsCurrent(schema, hash))
  /** No rows: none exist, or the generation is outdated. The guard alone fails if it is outdated. */
  const verify = (found: Rows) => (found.rows.length > 0 ? found : database.run(guard).then(() => found))
  const read = (statement: Statement, options: RunOptions) =>
    database.run({ ...statement, text: textOf(statement.text) }, options).then(verify)
  return {
    ...database,
    run(statement, options) {
      if (options?.transaction) return database.run(statement, options)
      if (options?.readonly) return read(statement, options)
      return database.run(statement, { ...options, guard })
    },
    transaction: (work, options) => database.transaction(work, { ...options, guard }),
  }
}

/** Adds the check as a condition: a call of a function that fails would cost each read more. */
function createTextGuard(condition: string): (text: string) => string {
  const texts = new LruCache<string>(TEXTS, memoryBytes)
  return text => {
    const known = texts.get(text)
    if (known !== undefined) return known
    const guarded = `SELECT * FROM (${text}) AS answer WHERE ${condition}`
    texts.set(text, guarded)
    return guarded
  }
}

/** Knows whether the tables still suit the version of the project that this process serves. */
export interface Generation {
  readonly hash: string
  /** The last known value; sends no statement. */
  isOutdated(): boolean
  /** Records that a statement failed because of another version's migration. */
  noteOutdated(reason: string): void
  /** Queries the database, in bounded time. Without an answer the last known state holds. */
  check(): Promise<boolean>
  /** For an outdated process: checks at most once a second, because an operator may undo a migration. */
  recheck(): void
}

interface GenerationOptions {
  readonly hash: string
  /** Called each time that the process becomes outdated. */
  readonly outdated: (reason: string) => void
}

/** Milliseconds for an answer, and between the checks of an outdated process. */
const CHECK_TIMEOUT = 2_000
const RECHECK_INTERVAL = 1_000

export function openGeneration(
  database: Pick<Database, 'run' | 'schema'>,
  { hash, outdated }: GenerationOptions,
): Generation {
  const statement = requireGeneration(database.schema, hash)
  let isOutdated = false
  let checkedAt = Number.NEGATIVE_INFINITY
  const noteOutdated = (reason: string) => {
    if (!isOutdated) outdated(reason)
    isOutdated = true
  }
  const query = () =>
    database.run(statement, { readonly: true }).then(
      () => {
        isOutdated = false
      },
      (error: unknown) => {
        const fault = toDatabaseFault(error)
        if (fault?.kind === 'outdated') noteOutdated(fault.message)
      },
    )
  const check = async () => {
    checkedAt = performance.now()
    await withTimeout(CHECK_TIMEOUT, query(), undefined)
    return !isOutdated
  }
  return {
    hash,
    isOutdated: () => isOutdated,
    noteOutdated,
    check,
    recheck() {
      if (performance.now() - checkedAt >= RECHECK_INTERVAL) void check()
    },
  }
}

/** The schema that this process was started with. */
interface StartedVersion {
  readonly tables: readonly Table[]
  readonly generation: Generation
}

/**
 * Makes statements fail as outdated after another version changed the tables. The guard of most statements detects that
 * (guardStatements). Others fail earlier because of the changed tables: so the generation is checked after a failure that was
 * impossible with the tables of the start.
 */
export function detectDrift(bare: Database, known: StartedVersion): Database {
  const { generation } = known
  const database = guardStatements(bare, generation.hash)
  const explain = async (error: unknown): Promise<never> => {
    if (!(error instanceof DatabaseFailure) || isOutcomeUnknown(error)) throw error
    const { fault } = error
    if (fault.kind === 'outdated') generation.noteOutdated(fault.message)
    if (!isStrange(fault, known) || (await generation.check())) throw error
    throw new DatabaseFailure({ kind: 'outdated', message: error.message }, error)
  }
  return {
    ...database,
    run: (statement, options) =>
      options?.transaction
        ? database.run(statement, options)
        : database.run(statement, options).catch(explain),
    transaction: (work, options) => database.transaction(work, options).catch(explain),
  }
}

/** A constraint that the model does not have, or a missing name or type. */
function isStrange(fault: DatabaseFault, { tables }: StartedVersion): boolean {
  if (fault.kind === 'notNull') return true
  if ('constraint' in fault) return !tables.some(table => isOf(table, fault.constraint))
  return fault.kind === 'other' && /^(42|22)/.test(fault.code ?? '')
}

const isOf = ({ name, indexes, checks, foreignKeys }: Table, constraint: string | null): boolean =>
  constraint === `${name}_pkey` ||
  [...indexes, ...checks, ...foreignKeys].some(one => one.name === constraint)
