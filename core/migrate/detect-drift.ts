import type { Database } from '../database/database.ts'
import { DatabaseFailure, type DatabaseFault, isOutcomeUnknown } from '../database/database-fault.ts'
import type { Generation } from '../database/generations/generations.ts'
import { guardStatements } from '../database/generations/generations.ts'
import type { Table } from '../model/storage.ts'

/** What a version of a project was started with. */
export interface StartedVersion {
  readonly tables: readonly Table[]
  readonly generation: Generation
}

/**
 * The same database for one version of the project: whatever it is asked once another version changed the tables fails
 * as outdated. Most statements are told so by PostgreSQL (guard-statements.ts). Others fail before that on what the
 * other version changed: the generation is compared where a statement fails that could not have failed at the start.
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

/** A rule that the model does not know, or a name or a type that it takes to be there. */
function isStrange(fault: DatabaseFault, { tables }: StartedVersion): boolean {
  if (fault.kind === 'notNull') return true
  if ('constraint' in fault) return !tables.some(table => isOf(table, fault.constraint))
  return fault.kind === 'other' && /^(42|22)/.test(fault.code ?? '')
}

const isOf = ({ name, indexes, checks, foreignKeys }: Table, constraint: string | null): boolean =>
  constraint === `${name}_pkey` ||
  [...indexes, ...checks, ...foreignKeys].some(one => one.name === constraint)
