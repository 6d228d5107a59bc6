import { failed, ok, type Result } from '../base/result.ts'
import { cutMiddle } from '../base/text.ts'

/**
 * All error kinds of a request: the closed table of the contract (reference/rest.md#2-errors).
 * `status` and `name` appear in the response unchanged; `details: false` means that the body has no `details` key.
 */
export const FAULTS = {
  validation: { status: 400, name: 'ValidationError', details: true },
  pagination: { status: 400, name: 'PaginationError', details: true },
  application: { status: 400, name: 'ApplicationError', details: true },
  foreignPart: { status: 400, name: 'Error', details: false },
  syntax: { status: 400, name: 'SyntaxError', details: false },
  badRequest: { status: 400, name: 'BadRequestError', details: false },
  /** Thrown by code of projects, as `ctx.badRequest(message, details)` in Strapi; so is `tooLarge`. */
  rejected: { status: 400, name: 'BadRequestError', details: true },
  unauthorized: { status: 401, name: 'UnauthorizedError', details: true },
  forbidden: { status: 403, name: 'ForbiddenError', details: true },
  policy: { status: 403, name: 'PolicyError', details: true },
  notFound: { status: 404, name: 'NotFoundError', details: true },
  methodNotAllowed: { status: 405, name: 'MethodNotAllowedError', details: false },
  conflict: { status: 409, name: 'ConflictError', details: true },
  preconditionFailed: { status: 412, name: 'PreconditionFailedError', details: true },
  requestTimeout: { status: 408, name: 'RequestTimeoutError', details: true },
  payloadTooLarge: { status: 413, name: 'PayloadTooLargeError', details: false },
  tooLarge: { status: 413, name: 'PayloadTooLargeError', details: true },
  rangeNotSatisfiable: { status: 416, name: 'RangeNotSatisfiableError', details: true },
  unprocessable: { status: 422, name: 'UnprocessableEntityError', details: true },
  rateLimit: { status: 429, name: 'RateLimitError', details: true },
  headersTooLarge: { status: 431, name: 'RequestHeaderFieldsTooLargeError', details: true },
  internal: { status: 500, name: 'InternalServerError', details: false },
  notImplemented: { status: 501, name: 'NotImplementedError', details: false },
  unavailable: { status: 503, name: 'ServiceUnavailableError', details: true },
} as const satisfies Record<string, { status: number; name: string; details: boolean }>

export type FaultCode = keyof typeof FAULTS

/** Why a request failed, independent of the REST or GraphQL format. */
export interface Fault {
  readonly code: FaultCode
  readonly message: string
  readonly details: FaultDetails
  /** Why the request is refused, with a way to allow it: for the log, and for responses in development. */
  readonly reason?: string
}

export type FaultDetails = Readonly<Record<string, unknown>>

/** Maximum length of a message. Many names and values that clients send become part of one, some of them for each row. */
export const MAX_MESSAGE = 2_000

export const fault = (code: FaultCode, message: string, details: FaultDetails = {}): Fault => ({
  code,
  message: cutMiddle(message, MAX_MESSAGE),
  details,
})

/** The part of the query string that a fault is about (reference/rest.md#2-errors). */
export type QueryParam = 'filters' | 'sort' | 'fields' | 'populate' | 'highlight'

/**
 * Contract 2, "bad key in a query". `path` is null for an unknown attribute at the top level, else the dotted path; the
 * message contains it if it differs from the key.
 */
export function invalidKey(key: string, path: string | null, param: QueryParam): Fault {
  const at = path === null || path === key ? '' : ` at ${path}`
  return fault('validation', `Invalid key ${key}${at}`, { key, path, source: 'query', param })
}

/** Contract 2, "bad key in a body". `path` is omitted for ids, and null for an unknown key at the top level. */
export function invalidBodyKey(key: string, path?: string | null): Fault {
  const at = path === undefined || path === null || path === key ? '' : ` at ${path}`
  const place = path === undefined ? {} : { path }
  return fault('validation', `Invalid key ${key}${at}`, { key, ...place, source: 'body' })
}

/** The bodies that are received at the same time are too large together (core/base/byte-budget.ts); others arrive faster. */
export const tooManyBodies = (): Fault =>
  fault('unavailable', 'Too many bodies are being received: send the request again, faster')

export const notFound = (): Fault => fault('notFound', 'Not Found')

export const tooManyRequests = (reason: string): Fault => ({
  ...fault('rateLimit', 'Too many requests, please try again later.'),
  reason,
})

export const forbidden = (reason: string): Fault => ({ ...fault('forbidden', FORBIDDEN), reason })

export const FORBIDDEN = 'Forbidden'

export const unauthorized = (message: string, reason: string): Fault => ({
  ...fault('unauthorized', message),
  reason,
})

/** A thrown fault; the HTTP listener and GraphQL catch it and format the response. */
export class RequestFault extends Error {
  readonly fault: Fault

  constructor(fault: Fault) {
    super(fault.message)
    this.name = FAULTS[fault.code].name
    this.fault = fault
  }

  get status(): number {
    return FAULTS[this.fault.code].status
  }

  get details(): FaultDetails {
    return this.fault.details
  }
}

/** True for a thrown fault with this code: for callers that answer it in another way. */
export const isRefusedAs = (error: unknown, code: FaultCode): error is RequestFault =>
  error instanceof RequestFault && error.fault.code === code

/** The value of `work`, or the fault that it throws: where a refusal is one outcome among others. */
export function attempt<Value>(work: () => Value): Result<Value, Fault> {
  try {
    return ok(work())
  } catch (error) {
    if (error instanceof RequestFault) return failed(error.fault)
    throw error
  }
}

/** The value of `work`, or null if it throws a RequestFault: for callers that have another way. */
export function nullIfRefused<Value>(work: () => Value): Value | null {
  const attempted = attempt(work)
  return attempted.ok ? attempted.value : null
}

/** The body of an error response (reference/rest.md#2-errors). */
export function toErrorBody(fault: Fault): { data: null; error: Record<string, unknown> } {
  const { status, name, details } = FAULTS[fault.code]
  const error = { status, name, message: fault.message }
  const isShown = details || 'outcome' in fault.details
  return { data: null, error: isShown ? { ...error, details: fault.details } : error }
}

/** The fault of an error response, for code that handles the answer of another part of the server. */
export function faultOfBody(body: unknown): Fault {
  const { name, message, details = {} } = (body as Partial<ReturnType<typeof toErrorBody>>).error ?? {}
  const code = (Object.keys(FAULTS) as FaultCode[]).find(each => FAULTS[each].name === name)
  return fault(code ?? 'application', String(message ?? name), details as FaultDetails)
}

/** Formats a rejected value as Strapi's messages do: inside arrays and objects, texts and numbers are quoted again. */
export const printRejectedValue = (value: unknown): string =>
  isLeaf(value) ? String(value) : printIndented(value, printLeaf)

/** The JSON of an object or a list with an indentation of two spaces, its leaves as `print` gives them; of a long one the beginning. */
export const printIndented = (value: unknown, print: (leaf: unknown) => unknown): string =>
  JSON.stringify(beginningOf(value), (_key, part: unknown) => (isLeaf(part) ? print(part) : part), 2)

/**
 * A copy of as much as a message can show. The indentation of lists within lists is a hundred times as long as the body
 * that has them.
 */
function beginningOf(value: unknown): unknown {
  let left = 2 * MAX_MESSAGE
  const copy = (part: unknown, depth: number): unknown => {
    left -= 2 * depth + (typeof part === 'string' ? part.length : 1)
    // Code of projects may give a Date, which prints itself.
    if (isLeaf(part) || 'toJSON' in (part as object)) return part
    const shown: [string, unknown][] = []
    for (const [key, each] of Object.entries(
      Array.isArray(part) ? part.slice(0, MAX_MESSAGE) : (part as object),
    )) {
      shown.push([key, left > 0 ? copy(each, depth + 1) : CUT])
      left -= key.length
      if (left <= 0) break
    }
    return Array.isArray(part) ? shown.map(([, each]) => each) : Object.fromEntries(shown)
  }
  return copy(value, 0)
}

const CUT = '…'

const isLeaf = (part: unknown): boolean => typeof part !== 'object' || part === null

const printLeaf = (part: unknown): unknown => {
  if (typeof part === 'string') return JSON.stringify(part)
  return part === null ? null : String(part)
}
