import { createRequire } from 'node:module'
import type { CustomTypesConfig, QueryResult } from 'pg'
import type { Sequelize } from 'sequelize'
import { loadPg } from './connect/load-pg.ts'
import type { ForeignQuery, Transaction } from './database.ts'
import { claimOpening } from './request-scope.ts'
import { findTransactionCommand } from './transaction-commands.ts'

export type { Model, ModelStatic, Sequelize, Transaction as SequelizeTransaction } from 'sequelize'

/** Runs the statements of a Sequelize instance. */
export interface StatementRunner {
  /** Runs one statement outside the transactions that Sequelize has begun. */
  query(query: ForeignQuery): Promise<QueryResult>
  /** Commits when `work` resolves. */
  transaction(work: (transaction: Transaction) => Promise<void>): Promise<void>
}

const require = createRequire(import.meta.url)

/**
 * A Sequelize instance over the connections of this module. It is configured by public options only: its "driver" passes
 * each statement on. Sequelize is loaded at the first call, because most processes do not use it.
 */
export function openSequelize(runner: StatementRunner): Sequelize {
  const { Sequelize } = loadSequelize()
  const { types } = loadPg()
  const options = {
    dialect: 'postgres',
    dialectModule: { Client: clientOf(runner), types },
    logging: false,
    // The scheduler of the database limits concurrency. A client is dropped after each use, so no timer of Sequelize's pool remains.
    pool: { max: UNLIMITED, maxUses: 1, acquire: UNLIMITED },
    // The sessions are set up already (session.ts).
    databaseVersion: '14.0.0',
    keepDefaultTimezone: true,
    standardConformingStrings: false,
    dialectOptions: { clientMinMessages: 'ignore' },
  } as const
  return new Sequelize(options)
}

export const loadSequelize = () => require('sequelize') as typeof import('sequelize')

const UNLIMITED = 2 ** 31 - 1

interface ClientConfig {
  /** Sequelize's parsers of column types. */
  readonly types: CustomTypesConfig
}

type Done = (error: Error | null, result: QueryResult) => void

/** A transaction that Sequelize has begun and not yet ended. */
interface BegunTransaction {
  readonly transaction: Transaction
  commit(): void
  rollback(): void
  /** Settles after the end of the transaction. */
  readonly ended: Promise<void>
}

const ROLLED_BACK = new Error('rolled back')

/** Sequelize creates clients with a configuration alone. */
const clientOf = (runner: StatementRunner) =>
  class extends ForwardingClient {
    constructor(config: ClientConfig) {
      super(runner, config)
    }
  }

/** The part of pg's Client that Sequelize uses. It has a connection only while a transaction is open. */
class ForwardingClient {
  /** Sequelize listens for parameters of the server. */
  readonly connection = { on: () => undefined, removeListener: () => undefined }
  readonly #runner: StatementRunner
  readonly #types: CustomTypesConfig
  #begun: BegunTransaction | undefined

  constructor(runner: StatementRunner, { types }: ClientConfig) {
    this.#runner = runner
    this.#types = types
  }

  on(): this {
    return this
  }

  once(): this {
    return this
  }

  removeListener(): this {
    return this
  }

  connect(done: (error: null) => void): void {
    done(null)
  }

  end(done: () => void): void {
    this.#begun?.rollback()
    done()
  }

  query(text: string, values?: readonly unknown[] | Done, done?: Done): Promise<QueryResult> | undefined {
    const callback = typeof values === 'function' ? values : done
    const parameters = typeof values === 'function' ? undefined : values
    const result = this.#run(text, parameters)
    if (!callback) return result
    result.then(
      answer => callback(null, answer),
      error => callback(error, undefined as never),
    )
    return undefined
  }

  async #run(text: string, values: readonly unknown[] | undefined): Promise<QueryResult> {
    if (text === BEGIN) return this.#begin()
    if (text === COMMIT || text === ROLLBACK) return this.#end(text)
    const command = findTransactionCommand(text)
    if (command !== null) throw new Error(`${command} would end a transaction: use app.transaction(…)`)
    const query = { text, types: this.#types, ...(values && { values: [...values] }) }
    return this.#begun ? this.#begun.transaction.query(query) : this.#runner.query(query)
  }

  async #begin(): Promise<QueryResult> {
    const opening = claimOpening()
    this.#begun = await beginTransaction(this.#runner)
    opening?.(this.#begun.transaction)
    return EMPTY_RESULT
  }

  async #end(text: string): Promise<QueryResult> {
    const begun = this.#begun
    if (!begun) throw new Error('No transaction is open')
    this.#begun = undefined
    if (text === COMMIT) begun.commit()
    else begun.rollback()
    await begun.ended
    return EMPTY_RESULT
  }
}

/** As Sequelize writes them. */
const BEGIN = 'START TRANSACTION;'
const COMMIT = 'COMMIT;'
const ROLLBACK = 'ROLLBACK;'

const EMPTY_RESULT: QueryResult = { command: '', rowCount: null, oid: 0, fields: [], rows: [] }

/** Sequelize decides later how the transaction ends. */
const beginTransaction = (runner: StatementRunner): Promise<BegunTransaction> =>
  new Promise((resolve, reject) => {
    const ended = runner
      .transaction(
        transaction =>
          new Promise<void>((commit, refuse) => {
            const rollback = () => refuse(ROLLED_BACK)
            // After `ended` is assigned.
            queueMicrotask(() => resolve({ transaction, commit, rollback, ended }))
          }),
      )
      .catch((error: unknown) => {
        if (error !== ROLLED_BACK) throw error
      })
    ended.catch(reject)
  })
