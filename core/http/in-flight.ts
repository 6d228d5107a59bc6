/** The requests that one set of responders has under way, and whether connections are to end with them. */
export interface Traffic {
  waiting: number
  closing: boolean
  /** Who waits for the last of them to end. */
  readonly onIdle: Set<() => void>
}

export const openTraffic = (): Traffic => ({ waiting: 0, closing: false, onIdle: new Set() })

export function enter(traffic: Traffic): void {
  traffic.waiting++
}

export function leave(traffic: Traffic): void {
  traffic.waiting--
  if (traffic.waiting === 0) for (const tell of traffic.onIdle) tell()
}

/** Resolves once no request is under way, or so many milliseconds have passed. */
export async function drained({ waiting, onIdle }: Traffic, milliseconds: number): Promise<void> {
  if (waiting === 0) return
  await new Promise<void>(resolve => {
    const end = () => {
      clearTimeout(patience)
      onIdle.delete(end)
      resolve()
    }
    const patience = setTimeout(end, milliseconds)
    onIdle.add(end)
  })
}
