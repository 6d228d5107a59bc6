import type { Database } from '../database/database.ts'
import { DatabaseFailure, type DatabaseFault, isOutcomeUnknown } from '../database/database-fault.ts'
import type { Generation } from '../database/generations/generations.ts'
import { guardStatements } from '../database/generations/generations.ts'
import type { Table } from '../model/storage.ts'

/** The schema that this process was started with. */
export interface StartedVersion {
  readonly tables: readonly Table[]
  readonly generation: Generation
}

/**
 * Makes statements fail as outdated after another version changed the tables. The guard of most statements detects that
 * (generations.ts). Others fail earlier because of the changed tables: so the generation is checked after a failure that was
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
