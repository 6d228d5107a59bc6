import { coalesceRuns } from '../base/serial-queue.ts'
import type { Observer } from '../observe/observation.ts'
import { readNumbers } from './read-metrics.ts'
import { openRolling } from './rolling-reload.ts'
import type { ToPrimary } from './rpc-methods.ts'
import type { Post } from './worker-process.ts'
import { openPlace, type Place } from './worker-slot.ts'

export interface CrewTerms {
  readonly count: number
  /** Starts a worker process. */
  post(worker: NewWorker): Post
  readonly observer: Observer
}

export interface NewWorker {
  readonly number: number
  /** Others take requests from the same port: this one is to have none before it can answer them. */
  readonly bindsLast: boolean
  readonly answers: Pick<ToPrimary, 'holdOthers' | 'allNumbers'>
}

/** All workers of a machine. */
export interface Crew {
  /**
   * null once the first takes requests: only then do the others begin, so that one alone prepares the database.
   * Its exit code where it ended before; 0 where it was to.
   */
  readonly begun: Promise<number | null>
  /** Has them read the project's files again, one after another. */
  reload(): Promise<boolean>
  /** What all of them count, as text. */
  readNumbers(): Promise<string>
  /** Has all of them answer what is under way, and end. */
  end(): Promise<void>
}

export function openCrew({ count, observer, post }: CrewTerms): Crew {
  let isKept = false
  let isEnding = false
  const places: Place[] = []
  const rolling = openRolling(places, observer)
  const reloads = coalesceRuns<'all'>(rolling.reload)
  const readAll = () => readNumbers(places)
  const add = (number: number) => {
    const answers = { holdOthers: () => rolling.holdOthers(number), allNumbers: readAll }
    const start = () => {
      const bindsLast = places.some(other => other.current()?.isServing())
      return post({ number, bindsLast, answers })
    }
    const place = openPlace({ number, observer, isKept: () => isKept, post: start })
    places.push(place)
    return place
  }
  const begin = async () => {
    const first = add(1).current()
    if (!(await first?.begun)) {
      const ended = await first?.ended
      return isEnding ? 0 : (ended?.code ?? 1)
    }
    isKept = true
    for (let number = 2; !isEnding && number <= count; number++) add(number)
    return null
  }
  return {
    begun: begin(),
    reload: () => reloads.request(['all']),
    readNumbers: readAll,
    async end() {
      isEnding = true
      await Promise.all([reloads.close(0), ...places.map(place => place.end())])
    },
  }
}
