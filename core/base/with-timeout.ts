/** Resolves or rejects with `work`, or resolves to `fallback` after the timeout. Leaves no timer running. */
export async function withTimeout<Value>(
  milliseconds: number,
  work: Promise<Value>,
  fallback: Value,
): Promise<Value> {
  let timer: NodeJS.Timeout | undefined
  const timeout = new Promise<Value>(resolve => {
    timer = setTimeout(resolve, milliseconds, fallback)
  })
  return Promise.race([work, timeout]).finally(() => clearTimeout(timer))
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

/** Prevents an unhandled rejection of a promise that is awaited later. The later `await` still rejects. */
export function ignoreUnhandled<Value>(asked: Promise<Value>): Promise<Value> {
  asked.catch(() => undefined)
  return asked
}

/** True for promises and other objects with `then`, which `await` treats alike. */
export const isPromise = (value: unknown): value is PromiseLike<unknown> =>
  typeof value === 'object' && value !== null && 'then' in value && typeof value.then === 'function'
