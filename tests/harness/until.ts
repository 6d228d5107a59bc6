import { setTimeout as pause } from 'node:timers/promises'

/** Waits until it is so, half a minute at most. */
export async function until(what: string, isSo: () => boolean | Promise<boolean>): Promise<void> {
  const deadline = Date.now() + 30_000
  while (!(await isSo())) {
    if (Date.now() > deadline) throw new Error(`Never came true: ${what}`)
    await pause(50)
  }
}
