import type { CustomTypesConfig, QueryResult } from 'pg'
import type { Sequelize } from 'sequelize'
import type { Connection } from './connection.ts'

/**
 * A Sequelize instance whose queries run on one connection, so inside the transaction that is open there. It is
 * configured by public options only: its "driver" hands out the given connection. Imported on first use: only code of the
 * project's migrations uses it.
 */
export async function openSequelize(connection: Connection): Promise<Sequelize> {
  const [{ Sequelize }, { default: pg }] = await Promise.all([import('sequelize'), import('pg')])
  const options = {
    dialect: 'postgres',
    dialectModule: { Client: borrowedClient(connection), types: pg.types },
    logging: false,
    // One statement at a time. A borrowed client is dropped after each, so no timer of Sequelize's pool remains.
    pool: { max: 1, maxUses: 1, acquire: UNLIMITED },
    // The session is set up already (session.ts).
    databaseVersion: '14.0.0',
    keepDefaultTimezone: true,
    standardConformingStrings: false,
    dialectOptions: { clientMinMessages: 'ignore' },
  } as const
  return new Sequelize(options)
}

/** Milliseconds: a statement may have to wait for a long one before it. */
const UNLIMITED = 2 ** 31 - 1

interface ClientConfig {
  /** Sequelize's parsers of column types. */
  readonly types: CustomTypesConfig
}

type Done = (error: Error | null, result: QueryResult) => void

/** The part of pg's Client that Sequelize uses, over a connection that is already open. */
function borrowedClient(connection: Connection) {
  return class BorrowedClient {
    readonly connection = connection.connection
    readonly #types: CustomTypesConfig

    constructor({ types }: ClientConfig) {
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
      done()
    }

    query(text: string, values?: readonly unknown[] | Done, done?: Done): Promise<QueryResult> | undefined {
      const callback = typeof values === 'function' ? values : done
      const parameters = typeof values === 'function' ? undefined : values
      const result = connection.query({
        text,
        types: this.#types,
        ...(parameters && { values: [...parameters] }),
      })
      if (!callback) return result
      result.then(
        answer => callback(null, answer),
        error => callback(error, undefined as never),
      )
      return undefined
    }
  }
}
