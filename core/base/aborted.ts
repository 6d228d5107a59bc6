/** What `work` resolves to; rejects with the signal's reason once that is aborted. The work itself goes on. */
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
