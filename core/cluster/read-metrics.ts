import { withTimeout } from '../base/with-timeout.ts'
import { mergeFamilies, printFamilies, type WorkerFamilies } from '../observe/metrics/print-families.ts'
import type { Place } from './worker-slot.ts'

/** Milliseconds that a worker has to tell its numbers. Whoever collects them waits for some seconds. */
const PATIENCE = 3_000

/** What all workers that take requests count, as text. */
export async function readNumbers(places: readonly Place[]): Promise<string> {
  const told = await Promise.all(places.map(readOne))
  return printFamilies(mergeFamilies(told.filter(each => each !== null)))
}

async function readOne(place: Place): Promise<WorkerFamilies | null> {
  const post = place.current()
  if (!post?.isServing()) return null
  const families = await withTimeout(PATIENCE, post.line.ask('numbers'), null)
  return families && { worker: place.number, families }
}
