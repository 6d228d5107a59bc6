import type { WriteOutcome } from '../base/request-context.ts'
import { TOO_LARGE } from '../sql/print-bounded.ts'
import { OUTDATED } from './generations/generations.ts'
import { meaningOf } from './sqlstate.ts'

/** Why a statement failed. Messages name no values of the data, and no secrets. */
export type DatabaseFault =
  /** Not reachable, or gone in the middle. */
  | {
      readonly kind: 'unavailable'
      readonly message: string
      /** The server answers, and takes no writes: nothing was written. */
      readonly isReadonly?: boolean
    }
  /** No connection became free in time: nothing was sent. */
  | { readonly kind: 'busy'; readonly message: string }
  /** A statement or the wait for a lock took too long. */
  | { readonly kind: 'timeout'; readonly message: string; readonly code: string | null }
  /** The answer was not read to its end. `sample`: its beginning, with some bytes of the protocol before the text. */
  | TooLargeFault
  | ConstraintFault
  /** The same transaction, run again, may well succeed. */
  | { readonly kind: 'serialization'; readonly message: string; readonly code: string }
  /** The tables are not those any more that the project wants (detect-drift.ts). */
  | { readonly kind: 'outdated'; readonly message: string }
  | { readonly kind: 'other'; readonly message: string; readonly code: string | null }

export interface TooLargeFault {
  readonly kind: 'too-large'
  readonly message: string
  /** How many it may have; null: PostgreSQL itself ended a list, which the statement has bounded. */
  readonly bytes: number | null
  /** The beginning of the answer, or the path of what is too large. */
  readonly seen: { readonly sample: string } | { readonly path: readonly string[] }
}

export interface ConstraintFault {
  readonly kind: 'unique' | 'check' | 'foreignKey' | 'notNull'
  readonly message: string
  /** The constraint's name; of a notNull, null. */
  readonly constraint: string | null
  readonly table: string | null
  /** Of a notNull only. */
  readonly column: string | null
}

/**
 * Carries a fault through code that may throw. `outcome` is `unknown` where a COMMIT was sent and its answer was lost:
 * such work must not be repeated without proof that it was not done.
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

export const isUnclear = (error: unknown): boolean =>
  error instanceof DatabaseFailure && error.outcome === 'unknown'

/** The fault behind anything that this room, Sequelize or the driver throws; undefined for an error of other origin. */
export function toDatabaseFault(error: unknown): DatabaseFault | undefined {
  if (error instanceof DatabaseFailure) return error.fault
  const driver = toDriverError(error)
  return driver && (faultOfCode(driver) ?? faultOfMessage(driver))
}

/** What pg and Node put on errors, and Sequelize hides under `parent`. */
export interface DriverError {
  readonly message: string
  readonly code?: unknown
  readonly constraint?: unknown
  readonly table?: unknown
  readonly column?: unknown
  readonly routine?: unknown
  readonly severity?: unknown
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
  const constraint = CONSTRAINTS[code]
  if (constraint) return { kind: constraint, message, ...namesOf(error) }
  const meaning = meaningOf(code)
  if (meaning === 'timeout') return { kind: 'timeout', message, code }
  if (meaning === 'retry' || error.routine === 'RevalidateCachedQuery')
    return { kind: 'serialization', message, code }
  if (meaning === 'readonly') return { kind: 'unavailable', message, isReadonly: true }
  if (isFinal(error) || meaning === 'unavailable' || OF_SOCKETS.has(code))
    return { kind: 'unavailable', message }
  return isSqlstate(code) ? { kind: 'other', message, code } : undefined
}

/** The server ends the connection with it. */
export const isFinal = ({ severity }: { readonly severity?: unknown }): boolean =>
  severity === 'FATAL' || severity === 'PANIC'

function tooLargeAt(message: string): TooLargeFault {
  const path = message.slice(message.indexOf(TOO_LARGE) + TOO_LARGE.length).replace(/"$/, '')
  return { kind: 'too-large', message: 'A list is too large', bytes: null, seen: { path: path.split('.') } }
}

const SQLSTATE = /^[0-9A-Z]{5}$/

export const isSqlstate = (code: unknown): code is string => typeof code === 'string' && SQLSTATE.test(code)

const CONSTRAINTS: Readonly<Record<string, ConstraintFault['kind']>> = {
  '23505': 'unique',
  '23P01': 'unique',
  '23514': 'check',
  '23503': 'foreignKey',
  '23502': 'notNull',
}

/** What Node says of connections. */
const OF_SOCKETS: ReadonlySet<string> = new Set([
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

/** What pg and Sequelize's pool say with a message only. */
function faultOfMessage(error: DriverError): DatabaseFault | undefined {
  const { message } = error
  if (message === 'Operation timeout') {
    return { kind: 'busy', message: 'No database connection became free in time' }
  }
  if (/read timeout/i.test(message))
    return { kind: 'timeout', message: 'The database did not answer in time', code: null }
  if (LOST.test(message)) return { kind: 'unavailable', message: 'The connection to the database was lost' }
  return undefined
}

const LOST =
  /connection terminated|timeout expired|not queryable|pool is draining|connection manager was closed|client was closed/i
