import type { DocumentEvent, EventHandler } from './events.ts'

/** What became of an event. */
export type Outcome =
  | { readonly kind: 'heard' }
  | { readonly kind: 'refused'; readonly error: unknown }
  /** The server ends before its listener does. */
  | { readonly kind: 'cut' }

export interface DeliverTerms {
  /** Milliseconds. */
  readonly patience: number
  /** Aborted when no listener is waited for any longer. */
  readonly ending: AbortSignal
}

/** Brings an event to a handler. Ends in bounded time, whatever the handler does, and never rejects. */
export async function deliver(
  event: DocumentEvent,
  handle: EventHandler,
  { patience, ending }: DeliverTerms,
): Promise<Outcome> {
  const stop = new AbortController()
  const late = () => stop.abort(new Error(`It took longer than ${patience / 1_000} s`))
  const end = () => stop.abort(ENDING)
  const timer = setTimeout(late, patience)
  ending.addEventListener('abort', end)
  if (ending.aborted) end()
  try {
    return await Promise.race([stopped(stop.signal), handled(event, handle, stop.signal)])
  } finally {
    clearTimeout(timer)
    ending.removeEventListener('abort', end)
  }
}

const ENDING = new Error('The server ends')

async function handled(event: DocumentEvent, handle: EventHandler, signal: AbortSignal): Promise<Outcome> {
  if (signal.aborted) return { kind: 'cut' }
  try {
    await handle(event, { signal })
    return { kind: 'heard' }
  } catch (error) {
    return signal.reason === ENDING ? { kind: 'cut' } : { kind: 'refused', error }
  }
}

const stopped = (signal: AbortSignal): Promise<Outcome> =>
  new Promise(resolve => {
    const outcome = (): Outcome =>
      signal.reason === ENDING ? { kind: 'cut' } : { kind: 'refused', error: signal.reason }
    if (signal.aborted) resolve(outcome())
    else signal.addEventListener('abort', () => resolve(outcome()), { once: true })
  })
