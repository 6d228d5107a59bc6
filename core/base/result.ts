/** The outcome of an operation that is expected to fail sometimes: a value, or every reason for the failure. */
export type Result<Value, Reason> = Ok<Value> | Failed<Reason>

export interface Ok<Value> {
  readonly ok: true
  readonly value: Value
}

export interface Failed<Reason> {
  readonly ok: false
  readonly reasons: readonly Reason[]
}

export const ok = <Value>(value: Value): Ok<Value> => ({ ok: true, value })

export const failed = <Reason>(...reasons: readonly Reason[]): Failed<Reason> => failedFor(reasons)

/** For a list without a bound: a call has at most some 120,000 arguments. */
export const failedFor = <Reason>(reasons: readonly Reason[]): Failed<Reason> => ({ ok: false, reasons })
