import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

setFlagsFromString('--expose-gc')
// Bytecode of functions that were not called for a while would be collected, and count as shrinkage.
setFlagsFromString('--no-flush-bytecode')
const collect: () => void = runInNewContext('gc')

/** Collections after which the heap is measured, whether it still shrinks or not. */
const MOST_COLLECTIONS = 12

/** Bytes of this process's live heap, without buffers: garbage is collected until the heap no longer shrinks. */
export function liveBytes(): number {
  let least = Number.POSITIVE_INFINITY
  for (let round = 0; round < MOST_COLLECTIONS; round++) {
    collect()
    const { heapUsed } = process.memoryUsage()
    if (heapUsed > least - 1024) return Math.min(heapUsed, least)
    least = heapUsed
  }
  return least
}

/** By how many bytes the heap has grown after `make` was called with 1, 2, …; what it answers is kept meanwhile. */
export function growthOf(times: number, make: (number: number) => unknown): number {
  // Memory for compiling and loading at the first calls is not counted.
  for (let number = times + 1; number <= times + 20; number++) make(number)
  const kept: unknown[] = new Array(times)
  const before = liveBytes()
  for (let number = 1; number <= times; number++) kept[number - 1] = make(number)
  const growth = liveBytes() - before
  return kept.length === times ? growth : Number.NaN
}
