/** What is asked before its turn, so that nobody waits for it alone: where it fails, it fails whoever awaits it in turn. */
export function ignoreUnhandled<Value>(asked: Promise<Value>): Promise<Value> {
  asked.catch(() => undefined)
  return asked
}
