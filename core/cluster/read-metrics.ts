import { within } from '../base/with-timeout.ts'
import { mergeFamilies, type OfWorker } from '../observe/metrics/merge-families.ts'
import { printFamilies } from '../observe/metrics/print-families.ts'
import type { Place } from './worker-slot.ts'

/** Milliseconds that a worker has to tell its numbers. Whoever collects them waits for some seconds. */
const PATIENCE = 3_000

/** What all workers that take requests count, as text. */
export async function readNumbers(places: readonly Place[]): Promise<string> {
  const told = await Promise.all(places.map(readOne))
  return printFamilies(mergeFamilies(told.filter(each => each !== null)))
}

async function readOne(place: Place): Promise<OfWorker | null> {
  const post = place.current()
  if (!post?.isServing()) return null
  const families = await within(PATIENCE, post.line.ask('numbers'), null)
  return families && { worker: place.number, families }
}
