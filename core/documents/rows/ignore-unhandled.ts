/** Prevents an unhandled rejection of a promise that is awaited later. The later `await` still rejects. */
export function ignoreUnhandled<Value>(asked: Promise<Value>): Promise<Value> {
  asked.catch(() => undefined)
  return asked
}
