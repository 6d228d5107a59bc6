import { mock } from 'node:test'
import type { ExecutionContext } from 'ava'

const STEP = 10

/** Moves `Date` by so many milliseconds until the end of the test. It goes on from there: what waits for a time would wait for ever. */
export function moveClock(t: ExecutionContext, by: number): void {
  const began = Date.now() + by
  const at = performance.now()
  mock.timers.enable({ apis: ['Date'], now: began })
  const ticking = setInterval(() => mock.timers.setTime(began + Math.floor(performance.now() - at)), STEP)
  t.teardown(() => {
    clearInterval(ticking)
    mock.timers.reset()
  })
}
