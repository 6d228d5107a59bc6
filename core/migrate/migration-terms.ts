import type { ServingProcess } from '../database/generations/processes.ts'
import type { CustomMigration } from './custom-migrations.ts'
import type { Leftover, Risk, SchemaRefusal } from './schema/finding.ts'

export interface MigrationReport {
  /** What was done, a line each; none where the schema was as the model wants it. */
  readonly steps: readonly string[]
  /** Tables and columns of Plinth that are empty and no longer declared: left as they are. */
  readonly left: readonly Leftover[]
  /** Who served an older version, and is refused everything since. */
  readonly outdated: readonly ServingProcess[]
}

/** How a migration treats processes of other versions that it would make outdated. */
export interface OtherProcesses {
  /** Not asked before: they are replaced together with this one. */
  readonly deployment: string | null
  /** false: nothing is done that they cannot live beside. */
  readonly mayOutdate: boolean
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

export const LIMITS: MigrationLimits = { turn: 60_000, lock: 10_000, statement: 300_000 }

/**
 * `start`: all of it, but where an older version may be serving meanwhile (`expand` was done last) nothing of what is
 * left; `expand`: what an older version can go on beside, so that both may serve; `all`: with what was left.
 */
export type Stage = 'start' | 'expand' | 'all'

export interface MigrationOptions {
  /** start where absent. */
  readonly stage?: Stage
  readonly limits?: MigrationLimits
  /** They may be made outdated where absent. */
  readonly others?: OtherProcesses
  /** What the migration may cost; safe where absent. */
  readonly allowing?: Risk
  /** Rows beyond which a table is large: what locks one is slow. */
  readonly manyRows?: number
  /** The files of migrations/; none where absent. */
  readonly files?: readonly CustomMigration[]
}

/** Carries refusals out of the transaction, which is rolled back by it. */
export class MigrationRefused extends Error {
  override readonly name = 'MigrationRefused'
  readonly refusals: readonly SchemaRefusal[]

  constructor(refusals: readonly SchemaRefusal[]) {
    super('the migration was refused')
    this.refusals = refusals
  }
}
