import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

setFlagsFromString('--expose-gc')
const collect: () => void = runInNewContext('gc')

/** Bytes of this process's heap that are alive, buffers left aside. */
export function liveBytes(): number {
  // Twice: what the first one finalizes the second one frees.
  collect()
  collect()
  return process.memoryUsage().heapUsed
}

/** By how many bytes the heap has grown after `make` was called with 1, 2, …; what it answers is kept meanwhile. */
export function growthOf(times: number, make: (number: number) => unknown): number {
  // What is compiled and loaded at the first calls is none of it.
  for (let number = times + 1; number <= times + 20; number++) make(number)
  const kept: unknown[] = new Array(times)
  const before = liveBytes()
  for (let number = 1; number <= times; number++) kept[number - 1] = make(number)
  const growth = liveBytes() - before
  return kept.length === times ? growth : Number.NaN
}
