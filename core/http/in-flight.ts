/** The requests in flight of one generation. */
export interface InFlight {
  count: number
  /** The server closes: each connection ends with its current request. */
  isClosing: boolean
  /** Called when the last request has ended. */
  readonly onIdle: Set<() => void>
}

export const openInFlight = (): InFlight => ({ count: 0, isClosing: false, onIdle: new Set() })

export function requestStarted(inFlight: InFlight): void {
  inFlight.count++
}

export function requestEnded(inFlight: InFlight): void {
  inFlight.count--
  if (inFlight.count === 0) for (const notify of inFlight.onIdle) notify()
}

/** Resolves when no request is in flight, or after `timeout` milliseconds. */
export async function whenDrained({ count, onIdle }: InFlight, timeout: number): Promise<void> {
  if (count === 0) return
  await new Promise<void>(resolve => {
    const end = () => {
      clearTimeout(timer)
      onIdle.delete(end)
      resolve()
    }
    const timer = setTimeout(end, timeout)
    onIdle.add(end)
  })
}
