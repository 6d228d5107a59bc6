import type { CustomTypesConfig, QueryResult } from 'pg'
import type { RequestContext } from '../base/request-context.ts'
import type { Statement } from '../sql/statement.ts'
import type { SessionHolders } from './session-holders.ts'

/**
 * The only access to PostgreSQL. Every rejection is a DatabaseFailure (database-fault.ts), except that errors thrown by the
 * work of a transaction are passed on unchanged.
 */
export interface Database {
  readonly kind: 'embedded' | 'server'
  /** The schema that holds Plinth's tables; first in the search path of every connection. */
  readonly schema: string
  /** Runs one statement, prepared unless the settings disable that. */
  run(statement: Statement, options?: RunOptions): Promise<Rows>
  /** Commits when `work` resolves, rolls back when it rejects. */
  transaction<Value>(
    work: (transaction: Transaction) => Promise<Value>,
    options?: TransactionOptions,
  ): Promise<Value>
  /** Checks in bounded time whether the database answers. For readiness. */
  ping(): Promise<Ping>
  /** Cancels the work in progress and rolls back its transactions. Nothing runs afterwards. `close` must still be called. */
  abort(): void
  /**
   * Ends the work of other processes that goes through this one, and accepts no more. For a process that is about to end:
   * an open transaction of another process would block its own work. Safe to call twice.
   */
  endForeign(): void
  /** Waits for the work in progress, then ends the connections. Safe to call twice. */
  close(): Promise<void>
  /** null: no replicas are configured. */
  readonly replicas: Replicas | null
  /** The state of the pool of connections to the primary. */
  connections(): PoolState
  /** False: no other process can use the database. */
  readonly isShared: boolean
  /** Transactions of project code that hold the one session of the embedded database; absent: a server. */
  readonly holders?: SessionHolders
  /** Opens a session outside the pool. `timeout`: milliseconds for each statement; 0: unlimited. */
  openSession(timeout?: number): Promise<DedicatedSession>
}

export interface PoolState {
  readonly busy: number
  readonly idle: number
  /** Statements and transactions that wait for a connection. */
  readonly waiting: number
}

/** A connection outside the pool, for state that ends with its session: advisory locks, LISTEN. */
export interface DedicatedSession {
  /** A pooler may give each transaction another server, so no state of a session lasts. */
  readonly isPooled: boolean
  run(statement: Statement): Promise<Rows>
  /** Calls `listener` for each NOTIFY that the session listens to. */
  onNotice(listener: () => void): void
  /** Calls `listener` once when the connection is lost. */
  onEnd(listener: () => void): void
  close(): Promise<void>
}

/** Servers that follow the primary and answer reads. */
export interface Replicas {
  /** The result of the last probe, in the order of the settings. */
  states(): readonly ReplicaHealth[]
  /** Guarantees that no later read is answered from a snapshot taken before this moment. */
  startFromHere(): Promise<void>
}

/** `stranger`: it answers but is not a replica of this primary. */
export type ReplicaHealth = 'well' | 'behind' | 'away' | 'stranger'

export interface RunOptions {
  readonly transaction?: Transaction
  /** May run on a replica, as far as its session allows (session-scope.ts). Ignored inside a transaction. */
  readonly readonly?: boolean
  /** A read that must be current: it runs on the primary. */
  readonly onPrimary?: boolean
  /** Its abort ends the statement, as far as the database can. Ignored inside a transaction. */
  readonly signal?: AbortSignal
  /** The maximum size of the answer. Ignored inside a transaction, except that of a request with an idempotency key. */
  readonly maxBytes?: number
  readonly purpose?: StatementContext
  /** Runs after the statement, in the same transaction and round trip. If it fails, so does the statement. Ignored inside a transaction. */
  readonly guard?: Statement
}

export interface TransactionOptions {
  readonly purpose?: StatementContext
  /** Runs last, in the round trip of the commit: if it fails, nothing is committed. It also runs after a rollback. */
  readonly guard?: Statement
  readonly isolation?: 'read committed' | 'repeatable read' | 'serializable'
  readonly readonly?: boolean
  /** Milliseconds a statement may take instead of `statementTimeout`; 0: no limit (migrations). */
  readonly statementTimeout?: number
  /** Its statements find rows by keys, whatever the values: their plans are made once and kept. */
  readonly byKeys?: boolean
}

export interface Transaction {
  run(statement: Statement): Promise<Rows>
  /**
   * Runs a statement without waiting for its answer. It is sent with the next awaited statement, at the latest with the
   * commit. If it fails, so do all later statements.
   */
  send(statement: Statement): void
  /** Runs SQL text that may hold several statements without parameters or results, for DDL. */
  runScript(text: string): Promise<void>
  /** Waits for the advisory lock of this name. The end of the transaction releases it. */
  lock(name: string): Promise<void>
  /** Like `lock`, without waiting. Resolves to false if another session holds the lock. */
  tryLock(name: string): Promise<boolean>
  /** Runs a nested transaction: its failure undoes only its own changes. Concurrent ones run one after another. */
  nest<Value>(work: (transaction: Transaction) => Promise<Value>): Promise<Value>
  /** Marks the session as changed by foreign SQL (SET, PREPARE): its connection is not used again. */
  endsSession(): void
  /** Runs SQL of project code. Rejects with the driver's own error. */
  query(query: ForeignQuery): Promise<QueryResult>
}

/** SQL of project code, with the driver's result. */
export interface ForeignQuery {
  readonly text: string
  readonly values?: unknown[]
  /** Parsers of column types. */
  readonly types: CustomTypesConfig
}

/** Integers that JavaScript represents exactly, floats and booleans are converted. All other types are PostgreSQL's text. */
export type Cell = string | number | boolean | null

export interface Rows {
  readonly rows: readonly (readonly Cell[])[]
  /** Rows that an INSERT, UPDATE or DELETE changed, or that a SELECT returned. */
  readonly count: number
}

/** `milliseconds`: the duration of the check. */
export type Ping =
  | { readonly ok: true; readonly milliseconds: number }
  | {
      readonly ok: false
      readonly message: string
      /** The server answers but takes no writes. */
      readonly isReadonly: boolean
    }

/** The purpose of a statement or transaction, for scheduling and logs. */
export interface StatementContext {
  /** The request that it runs for; absent: none. */
  readonly requestContext?: RequestContext | undefined
  /** A description for logs, without values. Called only if it is logged or traced. */
  describe(): object
}
