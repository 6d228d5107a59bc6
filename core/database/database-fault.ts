import type { WriteOutcome } from '../base/request-context.ts'
import { TOO_LARGE } from '../sql/print-bounded.ts'
import { categorize, FAILED_TRANSACTION, OUTDATED } from './sqlstate.ts'

/** Why a statement failed. Messages contain neither data nor secrets. */
export type DatabaseFault =
  /** Unreachable, or the connection was lost. */
  | {
      readonly kind: 'unavailable'
      readonly message: string
      /** The server answers but takes no writes: nothing was written. */
      readonly isReadonly?: boolean
      /** The server answers and keeps the connection, but has no room or cannot use its files: nothing was written. */
      readonly isOverwhelmed?: boolean
    }
  /** No connection became free in time: nothing was sent. */
  | { readonly kind: 'busy'; readonly message: string }
  /** The caller left before the statement began: nothing was sent. */
  | { readonly kind: 'aborted'; readonly message: string }
  /** A statement or its wait for a lock took too long. */
  | { readonly kind: 'timeout'; readonly message: string; readonly code: string | null }
  | TooLargeFault
  | ConstraintFault
  /** The same transaction may succeed if it runs again. */
  | { readonly kind: 'serialization'; readonly message: string; readonly code: string }
  /** The tables were migrated for another version of the project. */
  | { readonly kind: 'outdated'; readonly message: string }
  | { readonly kind: 'other'; readonly message: string; readonly code: string | null }

/** The answer was not read to its end. */
export interface TooLargeFault {
  readonly kind: 'too-large'
  readonly message: string
  /** The limit; null: PostgreSQL stopped at a list that is longer than the statement allows. */
  readonly bytes: number | null
  /** The beginning of the answer, including some bytes of the protocol; or the path of the list. */
  readonly seen: { readonly sample: string } | { readonly path: readonly string[] }
}

export interface ConstraintFault {
  readonly kind: 'unique' | 'check' | 'foreignKey' | 'notNull'
  readonly message: string
  /** The constraint's name; null for notNull. */
  readonly constraint: string | null
  readonly table: string | null
  /** Only for notNull. */
  readonly column: string | null
}

/**
 * Carries a fault. `outcome` is `unknown` if a COMMIT was sent and its answer was lost: such work must not be repeated
 * without proof that it was not committed.
 */
export class DatabaseFailure extends Error {
  override readonly name = 'DatabaseFailure'
  readonly fault: DatabaseFault
  readonly outcome: WriteOutcome

  constructor(fault: DatabaseFault, cause?: unknown, outcome: WriteOutcome = 'not-written') {
    super(fault.message, { cause })
    this.fault = fault
    this.outcome = outcome
  }
}

/** The database is away, or gave no connection. With a full disk it is not: the same work fails until its operator makes room. */
export const isOutage = (fault: DatabaseFault): boolean =>
  fault.kind === 'busy' || (fault.kind === 'unavailable' && !fault.isOverwhelmed)

export const isOutcomeUnknown = (error: unknown): boolean =>
  error instanceof DatabaseFailure && error.outcome === 'unknown'

/** Like toDatabaseFault, as a DatabaseFailure. Errors of another origin are returned unchanged. */
export function toFailure(error: unknown): unknown {
  const fault = toDatabaseFault(error)
  return fault === undefined || error instanceof DatabaseFailure ? error : new DatabaseFailure(fault, error)
}

/** The fault behind an error of this module, Sequelize or the driver; undefined for an error of another origin. */
export function toDatabaseFault(error: unknown): DatabaseFault | undefined {
  if (error instanceof DatabaseFailure) return error.fault
  const driver = toDriverError(error)
  return driver && (faultOfCode(driver) ?? faultOfMessage(driver))
}

/** Properties of pg's and Node's errors. Sequelize wraps these errors as `parent`. */
export interface DriverError {
  readonly message: string
  readonly code?: unknown
  readonly detail?: unknown
  readonly constraint?: unknown
  readonly table?: unknown
  readonly column?: unknown
  readonly routine?: unknown
  readonly severity?: unknown
  readonly syscall?: unknown
}

export function toDriverError(error: unknown): DriverError | undefined {
  if (!(error instanceof Error)) return undefined
  if ('parent' in error && error.parent instanceof Error) return toDriverError(error.parent)
  if (error instanceof AggregateError && error.errors[0] instanceof Error) return error.errors[0]
  return error
}

function faultOfCode(error: DriverError): DatabaseFault | undefined {
  const { code, message } = error
  if (typeof code !== 'string') return undefined
  if (code === '22P02' && message.includes(TOO_LARGE)) return tooLargeAt(message)
  if (code === OUTDATED) return { kind: 'outdated', message }
  if (code === FAILED_TRANSACTION) return { kind: 'other', message: IGNORED_ERROR, code }
  const constraint = CONSTRAINTS[code]
  if (constraint) return { kind: constraint, message, ...namesOf(error) }
  const category = categorize(code)
  if (category === 'timeout') return { kind: 'timeout', message, code }
  if (category === 'retry' || error.routine === 'RevalidateCachedQuery')
    return { kind: 'serialization', message, code }
  if (category === 'readonly') return { kind: 'unavailable', message, isReadonly: true }
  if (isFinal(error) || category === 'unavailable' || isSocketError(error, code))
    return { kind: 'unavailable', message }
  if (category === 'overwhelmed') return { kind: 'unavailable', message, isOverwhelmed: true }
  return isSqlstate(code) ? { kind: 'other', message, code } : undefined
}

const IGNORED_ERROR =
  'An earlier statement of this transaction failed, so PostgreSQL runs no more of it: let that error end the transaction, or run the statement that may fail in an app.transaction(…) inside of it'

/** The server ends the connection after such an error. */
export const isFinal = ({ severity }: { readonly severity?: unknown }): boolean =>
  severity === 'FATAL' || severity === 'PANIC'

function tooLargeAt(message: string): TooLargeFault {
  const path = message.slice(message.indexOf(TOO_LARGE) + TOO_LARGE.length).replace(/"$/, '')
  return { kind: 'too-large', message: 'A list is too large', bytes: null, seen: { path: path.split('.') } }
}

/** Some of Node's codes have five letters, too: EPERM, EPIPE, ELOOP. */
const SQLSTATE = /^(?!E[A-Z]{4}$)[0-9A-Z]{5}$/

export const isSqlstate = (code: unknown): code is string => typeof code === 'string' && SQLSTATE.test(code)

const CONSTRAINTS: Readonly<Record<string, ConstraintFault['kind']>> = {
  '23505': 'unique',
  '23P01': 'unique',
  '23514': 'check',
  '23503': 'foreignKey',
  '23502': 'notNull',
}

/** A connection that cannot be opened is an outage, whatever the system says: firewalls refuse it with EPERM. */
const isSocketError = ({ syscall }: DriverError, code: string): boolean =>
  syscall === 'connect' || syscall === 'getaddrinfo' || SOCKET_ERRORS.has(code)

/** Node's codes of connection errors. */
const SOCKET_ERRORS: ReadonlySet<string> = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'ECONNABORTED',
  'EPIPE',
  'ETIMEDOUT',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'EHOSTDOWN',
  'ENETDOWN',
  'EADDRNOTAVAIL',
  'EMFILE',
  'ENFILE',
  'ENOENT',
  'EACCES',
])

const namesOf = (error: DriverError) => ({
  constraint: textOrNull(error.constraint),
  table: textOrNull(error.table),
  column: textOrNull(error.column),
})

const textOrNull = (value: unknown) => (typeof value === 'string' ? value : null)

/** pg's errors that have a message only. */
function faultOfMessage(error: DriverError): DatabaseFault | undefined {
  const { message } = error
  if (/read timeout/i.test(message))
    return { kind: 'timeout', message: 'The database did not answer in time', code: null }
  if (LOST.test(message)) return { kind: 'unavailable', message: 'The connection to the database was lost' }
  return undefined
}

const LOST = /connection terminated|timeout expired|not queryable|client was closed/i
