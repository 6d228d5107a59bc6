import type { Table } from '../model/storage.ts'
import type { Database } from './database.ts'
import { DatabaseFailure, type DatabaseFault } from './database-fault.ts'
import type { Handwritten } from './handwritten.ts'
import { hashSchema } from './schema-hash.ts'
import { isServed } from './schema-record.ts'

/** The tables that a version of a project was started with, and who hears that they are others by now. */
export interface Known {
  readonly tables: readonly Table[]
  readonly files: readonly Handwritten[]
  /** Once. `message`: what PostgreSQL said to the first statement that met it. */
  tell(message: string): void
}

/** Milliseconds for which one look is enough. */
const FRESH = 1_000

/**
 * The same database. What another version of the project made impossible fails as that: the tables are looked at where
 * a statement fails that could not have failed on those that were there at the start.
 */
export function noticeChanges(database: Database, known: Known): Database {
  const isMine = openLook(database, known)
  let isTold = false
  const explain = async (error: unknown): Promise<never> => {
    if (!(error instanceof DatabaseFailure) || !isStrange(error.fault, known) || (await isMine())) throw error
    if (!isTold) known.tell(error.message)
    isTold = true
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

/** Whether the last migration was for this version, too. Where nobody can tell, it was. */
function openLook(database: Database, { tables, files }: Known): () => Promise<boolean> {
  let last: { readonly at: number; readonly answer: Promise<boolean> } | undefined
  const look = () => {
    const hash = hashSchema(database.schema, tables, files)
    return isServed(database, database.schema, hash).catch(() => true)
  }
  return () => {
    if (last === undefined || Date.now() - last.at > FRESH) last = { at: Date.now(), answer: look() }
    return last.answer
  }
}

/** A rule that the model does not know, or a name or a type that it takes to be there. */
function isStrange(fault: DatabaseFault, { tables }: Known): boolean {
  if (fault.kind === 'notNull') return true
  if ('constraint' in fault) return !tables.some(table => isOf(table, fault.constraint))
  return fault.kind === 'other' && /^(42|22)/.test(fault.code ?? '')
}

const isOf = ({ name, indexes, checks, foreignKeys }: Table, constraint: string | null): boolean =>
  constraint === `${name}_pkey` ||
  [...indexes, ...checks, ...foreignKeys].some(one => one.name === constraint)
