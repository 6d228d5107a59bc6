import type { Transaction } from '../database/database.ts'
import type { ServingProcess } from '../database/generations/processes.ts'
import type { CustomMigration } from './custom-migrations/custom-migration.ts'
import type { Catalogue } from './schema/catalogue.ts'
import type { Leftover, Risk, SchemaRefusal } from './schema/finding.ts'
import type { Runner } from './schema/read-catalogue.ts'

export interface MigrationReport {
  /** One line per executed step; empty if the schema was current. */
  readonly steps: readonly string[]
  /** Plinth's empty tables and columns that are no longer declared. They are kept. */
  readonly left: readonly Leftover[]
  /** Processes of older versions that became outdated. */
  readonly outdated: readonly ServingProcess[]
}

/** How a migration treats processes of other versions that it would make outdated. */
export interface OtherProcesses {
  /** Processes of this deployment are replaced together with this one, so they may become outdated. */
  readonly deployment: string | null
  /** false: breaking steps are refused or deferred. */
  readonly mayOutdate: boolean
}

/** Milliseconds. */
export interface MigrationLimits {
  /** Wait for another process that migrates. */
  readonly turn: number
  /** Wait for sessions that use a table to be changed. */
  readonly lock: number
  /** Limit of one statement. */
  readonly statement: number
}

export const LIMITS: MigrationLimits = { turn: 60_000, lock: 10_000, statement: 300_000 }

/**
 * `start`: all steps, except those deferred by a previous `expand`, because an older version may still serve. `expand`:
 * backward-compatible steps only, so that both versions may serve. `all`: all steps, including deferred ones.
 */
export type Stage = 'start' | 'expand' | 'all'

/** Objections of rows that no table of the model expresses. `catalogue`: the tables before the generated steps, or after all of them. */
export type RowCheck = (runner: Runner, catalogue: Catalogue) => Promise<readonly SchemaRefusal[]>

export const NO_ROW_CHECK: RowCheck = async () => []

/** Objections to the result of a migration, in its transaction. */
export type ResultCheck = (transaction: Transaction) => Promise<readonly SchemaRefusal[]>

export const NO_RESULT_CHECK: ResultCheck = async () => []

export interface RunMigrationOptions {
  /** Default: start. */
  readonly stage?: Stage
  readonly limits?: MigrationLimits
  /** Absent: other processes may become outdated. */
  readonly others?: OtherProcesses
  /** The allowed costs. Default: safe. */
  readonly allowing?: Risk
  /** Rows from which a table is large, so that steps which lock it are slow. */
  readonly manyRows?: number
  /** The files of migrations/. Default: none. */
  readonly files?: readonly CustomMigration[]
  /** Runs after the custom migrations, which may change the rows. Default: no objections. */
  readonly checkRows?: RowCheck
  /** Runs after all steps. Default: no objections. */
  readonly checkResult?: ResultCheck
}

/** Rolls back the transaction and carries the refusals. */
export class MigrationRefused extends Error {
  override readonly name = 'MigrationRefused'
  readonly refusals: readonly SchemaRefusal[]

  constructor(refusals: readonly SchemaRefusal[]) {
    super('the migration was refused')
    this.refusals = refusals
  }
}
