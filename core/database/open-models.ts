import { projectFrame } from '../base/project-frame.ts'
import type { Database, Transaction } from './database.ts'
import { DatabaseFailure } from './database-fault.ts'
import { defineModels, type ModelsInput, type RowModel } from './models.ts'
import { afterCommit, currentRequestTransaction, whileOpening, withinTransaction } from './request-scope.ts'
import {
  type Model,
  type ModelStatic,
  openSequelize,
  type Sequelize,
  type SequelizeTransaction,
} from './sequelize.ts'

export type { Model, ModelStatic, RowModel, Sequelize, SequelizeTransaction }

/** Sequelize over the project's tables, for code of the project. */
export interface ProjectModels {
  readonly sequelize: Sequelize
  /** By key of the content-type (`article`) or uid of the component (`shared.seo`). */
  readonly models: Readonly<Record<string, RowModel>>
  /**
   * One transaction for documents, models and SQL. Commits when `work` resolves, rolls back when it rejects. Inside of another
   * one it is a savepoint.
   */
  transaction<Value>(work: (transaction: SequelizeTransaction) => Promise<Value>): Promise<Value>
}

export interface OpenModelsInput extends Omit<ModelsInput, 'sequelize' | 'schema'> {
  readonly database: Pick<Database, 'transaction' | 'schema' | 'holders'>
  /** The project's folder. */
  readonly root: string
}

/** Loads Sequelize and defines the models at the first use. */
export function openModels(input: OpenModelsInput): ProjectModels {
  const { database, root } = input
  const { holders } = database
  let sequelize: Sequelize | undefined
  let models: ProjectModels['models'] | undefined
  const open = (): Sequelize => {
    sequelize ??= openSequelize({
      query: query => {
        const shared = currentRequestTransaction()
        if (!shared) return database.transaction(transaction => transaction.query(query))
        shared.isTouched = true
        return shared.transaction.query(query)
      },
      transaction: work =>
        database.transaction(transaction =>
          holders ? holders.during(transaction, () => work(transaction)) : work(transaction),
        ),
    })
    return sequelize
  }
  const define = (): ProjectModels['models'] => {
    models ??= defineModels({ ...input, sequelize: open(), schema: database.schema })
    return models
  }
  return {
    get sequelize() {
      define()
      return open()
    },
    get models() {
      return define()
    },
    transaction(work) {
      // Thrown at once, so that the stack has the line of the call.
      if (typeof work !== 'function') throw new TypeError('app.transaction(…) takes a function')
      const place = holders ? projectFrame(new Error('a transaction'), root) : null
      return runShared({ sequelize: open(), begun: transaction => holders?.name(transaction, place) }, work)
    },
  }
}

interface SharedOptions {
  readonly sequelize: Sequelize
  begun(transaction: Transaction): void
}

/** Documents and models that `work` uses take part, because they look for the transaction of their request. */
async function runShared<Value>(
  { sequelize, begun: notify }: SharedOptions,
  work: (transaction: SequelizeTransaction) => Promise<Value>,
): Promise<Value> {
  const later: (() => unknown)[] = []
  let begun: Transaction | undefined
  const receive = (transaction: Transaction) => {
    begun = transaction
    notify(transaction)
  }
  const run = async (transaction: SequelizeTransaction): Promise<Value> => {
    if (!begun) throw new TypeError('Sequelize ran a transaction that it did not begin')
    return withinTransaction({ transaction: begun, afterCommit: later }, () => work(transaction))
  }
  const value = await whileOpening(receive, () => sequelize.transaction(run)).catch(unwrap)
  for (const each of later) await afterCommit(each)
  return value
}

/** Sequelize wraps errors of BEGIN and COMMIT, which say whether data was written. */
function unwrap(error: unknown): never {
  const cause = error instanceof Error && 'parent' in error ? error.parent : undefined
  throw cause instanceof DatabaseFailure ? cause : error
}
