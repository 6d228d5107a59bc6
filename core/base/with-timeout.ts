/**
 * Parts of a timeout. While other work blocks the event loop, answers wait unread: however long that takes, it counts as one
 * part.
 */
const PARTS = 5

/** Calls `expire` after so many milliseconds in which the event loop was not blocked. Returns what prevents that. */
export function startTimeout(milliseconds: number, expire: () => void): () => void {
  let left = PARTS
  const stop = () => clearInterval(timer)
  const timer = setInterval(() => {
    if (--left > 0) return
    stop()
    expire()
  }, milliseconds / PARTS)
  return stop
}

/** Resolves or rejects with `work`, or resolves to `fallback` after the timeout. Leaves no timer running. */
export async function withTimeout<Value>(
  milliseconds: number,
  work: Promise<Value>,
  fallback: Value,
): Promise<Value> {
  let stop = () => {}
  const timeout = new Promise<Value>(resolve => {
    stop = startTimeout(milliseconds, () => resolve(fallback))
  })
  return Promise.race([work, timeout]).finally(() => stop())
}

/** Settles with `work`, or rejects with the signal's reason when it is aborted. The work itself continues. */
export async function unlessAborted<Value>(
  signal: AbortSignal | undefined,
  work: Promise<Value>,
): Promise<Value> {
  if (!signal) return work
  let stop = () => {}
  const aborted = new Promise<never>((_resolve, reject) => {
    stop = () => reject(signal.reason)
    signal.addEventListener('abort', stop, { once: true })
    if (signal.aborted) stop()
  })
  return Promise.race([work, aborted]).finally(() => signal.removeEventListener('abort', stop))
}

/** Resolves to what `work` returns; rejects if `work` throws or rejects, or takes longer than so many milliseconds. */
export async function rejectAfter<Value>(milliseconds: number, work: () => Value): Promise<Awaited<Value>> {
  const outcome = await withTimeout<{ value: Awaited<Value> } | null>(
    milliseconds,
    (async () => ({ value: await work() }))(),
    null,
  )
  if (outcome === null) throw new Error(`it took longer than ${milliseconds / 1000} s`)
  return outcome.value
}

/** Milliseconds after which the log names work of a project that others wait for. */
const SLOW = 5_000

/** Settles with `work`. Calls `report` once if that takes longer than SLOW. */
export async function reportSlow<Value>(work: () => Value, report: () => void): Promise<Awaited<Value>> {
  const stop = startTimeout(SLOW, report)
  try {
    return await work()
  } finally {
    stop()
  }
}

/** Prevents an unhandled rejection of a promise that is awaited later. The later `await` still rejects. */
export function ignoreUnhandled<Value>(asked: Promise<Value>): Promise<Value> {
  asked.catch(() => undefined)
  return asked
}

/** True for promises and other objects with `then`, which `await` treats alike. */
export const isPromise = (value: unknown): value is PromiseLike<unknown> =>
  typeof value === 'object' && value !== null && 'then' in value && typeof value.then === 'function'
