import type { Sequelize, Transaction as SequelizeTransaction } from 'sequelize'
import type { Statement } from '../sql/statement.ts'
import type { PoolState } from './connect/pool-state.ts'
import type { ReplicaState } from './replica-state.ts'
import type { Purpose } from './statement-context.ts'

/**
 * The one way to PostgreSQL. Every rejection is a DatabaseFailure (database-fault.ts), except that what the work
 * of a transaction throws comes out as it was thrown.
 */
export interface Database {
  readonly kind: 'embedded' | 'server'
  /** The schema that holds Plinth's tables; first in the search path of every connection. */
  readonly schema: string
  /** Runs one statement: as a prepared one, unless settings say otherwise. */
  run(statement: Statement, options?: RunOptions): Promise<Rows>
  /** Commits when `work` resolves, rolls back when it rejects. The connection is given back either way. */
  transaction<Value>(
    work: (transaction: Transaction) => Promise<Value>,
    options?: TransactionOptions,
  ): Promise<Value>
  /** Answers in bounded time whether the database does. For readiness. */
  ping(): Promise<Ping>
  /** Cancels the work in progress: its transactions are rolled back. Nothing runs afterwards; `close` is still to come. */
  abort(): void
  /**
   * Ends the work of other processes that goes through this one, and takes no more of it: for a process that is about
   * to end, since an open transaction of theirs keeps its own work waiting. Safe to call twice.
   */
  endForeign(): void
  /** Ends the work in progress, then the connections. Safe to call twice. */
  close(): Promise<void>
  /** What answers reads in its place; null: nothing does. */
  readonly replicas: Replicas | null
  /** Connections to the primary, and the work that waits for one. */
  connections(): PoolState
  /** Opens a connection outside the pool; null: no other process uses the database. */
  readonly dedicate: (() => Promise<DedicatedSession>) | null
  /** For DDL through queryInterface; used inside this room only. */
  readonly sequelize: Sequelize
}

/** A connection beside the pool that lasts, for what ends with its session: advisory locks, LISTEN. */
export interface DedicatedSession {
  /** A pooler may give each of its transactions another server: nothing of a session lasts there. */
  readonly isPooled: boolean
  run(statement: Statement): Promise<Rows>
  /** Calls back for each NOTIFY that the session listens to. */
  onNotice(told: () => void): void
  /** Calls back once when the connection is gone. */
  onEnd(told: () => void): void
  close(): Promise<void>
}

/** Servers that follow the primary, and answer reads in its place. */
export interface Replicas {
  /** As they were seen last, in the order of the settings. */
  states(): readonly ReplicaState['kind'][]
  /** No later read is answered from a snapshot taken before this moment. */
  startFromHere(): Promise<void>
}

export interface RunOptions {
  readonly transaction?: Transaction
  /** May run on a replica, as far as its session allows (session-scope.ts). Ignored inside a transaction. */
  readonly readonly?: boolean
  /** A read that must not be behind: no replica answers it. */
  readonly onPrimary?: boolean
  /** Ends the statement where it is aborted, as far as the database can. Ignored inside a transaction. */
  readonly signal?: AbortSignal
  /** A larger answer is not read to its end. Ignored inside a transaction. */
  readonly maxBytes?: number
  readonly purpose?: Purpose
  /** Runs behind the statement, in the same transaction and round trip: where it fails, nothing is written or answered. Ignored inside a transaction. */
  readonly guard?: Statement
}

export interface TransactionOptions {
  readonly purpose?: Purpose
  /** Runs last, in the round trip of the commit: where it fails, nothing is committed. It runs behind a rollback, too. */
  readonly guard?: Statement
  readonly isolation?: 'read committed' | 'repeatable read' | 'serializable'
  readonly readonly?: boolean
  /** Milliseconds a statement may take instead of `statementTimeout`; 0: no limit (migrations). */
  readonly statementTimeout?: number
  /** Its statements find their rows by keys, whatever the values: their plans are made once and kept. */
  readonly byKeys?: boolean
}

export interface Transaction {
  /** Runs one statement inside the transaction. */
  run(statement: Statement): Promise<Rows>
  /**
   * Runs a statement without waiting for its answer: with what is asked for next, at the latest with the commit. Where it
   * fails, so does all that comes behind it.
   */
  send(statement: Statement): void
  /** Waits for the advisory lock of this name, which the end of the transaction frees. */
  lock(name: string): Promise<void>
  /** The same, without waiting: false when somebody else holds it. */
  tryLock(name: string): Promise<boolean>
  /** A transaction inside of it: what fails in that is undone alone. Several at once wait for one another. */
  nest<Value>(work: (transaction: Transaction) => Promise<Value>): Promise<Value>
  /** Statements that Plinth did not write may change the session (SET, PREPARE): its connection is not used again. */
  endsSession(): void
  /** For queryInterface calls; used inside this room only. */
  readonly sequelize: SequelizeTransaction
}

/** Integers that JavaScript holds exactly, floats and booleans are values of their own; all else is PostgreSQL's text. */
export type Cell = string | number | boolean | null

export interface Rows {
  readonly rows: readonly (readonly Cell[])[]
  /** Rows that an INSERT, UPDATE or DELETE touched, or a SELECT answered. */
  readonly count: number
}

/** `milliseconds`: how long the answer took. */
export type Ping =
  | { readonly ok: true; readonly milliseconds: number }
  | {
      readonly ok: false
      readonly message: string
      /** It answers, and takes no writes. */
      readonly isReadonly: boolean
    }
