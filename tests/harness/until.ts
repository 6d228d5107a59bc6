import { setTimeout as pause } from 'node:timers/promises'

/** Waits until it is so, at most `timeout` milliseconds. */
export async function until(
  what: string,
  isSo: () => boolean | Promise<boolean>,
  timeout = 120_000,
): Promise<void> {
  const deadline = Date.now() + timeout
  while (!(await isSo())) {
    if (Date.now() > deadline) throw new Error(`Never came true: ${what}`)
    await pause(50)
  }
}
