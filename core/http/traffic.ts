/** The requests that one set of responders has under way, and whether connections are to end with them. */
export interface Traffic {
  waiting: number
  closing: boolean
  /** Called each time that the last one has ended. */
  onIdle: () => void
}

export const openTraffic = (): Traffic => ({ waiting: 0, closing: false, onIdle: () => {} })

export function enter(traffic: Traffic): void {
  traffic.waiting++
}

export function leave(traffic: Traffic): void {
  traffic.waiting--
  if (traffic.waiting === 0) traffic.onIdle()
}

/** Resolves once no request is under way, or so many milliseconds have passed. */
export async function drained(traffic: Traffic, milliseconds: number): Promise<void> {
  if (traffic.waiting === 0) return
  await new Promise<void>(resolve => {
    const patience = setTimeout(resolve, milliseconds)
    traffic.onIdle = () => {
      clearTimeout(patience)
      resolve()
    }
  })
}
