import { within } from '../../base/with-timeout.ts'
import type { Observation } from '../observation.ts'
import { openCounter } from './counter.ts'
import type { Family } from './family.ts'
import { openHistogram } from './histogram.ts'
import { openProcessFamilies } from './process-families.ts'

/** All that is counted in a process, from its start on: reloads change nothing about it. */
export interface Meters {
  /** A request is over. `route`: whoever answered it, of a closed set. */
  answered(route: string, status: number, milliseconds: number): void
  /** So did the work of the database. */
  ran(kind: 'read' | 'write' | 'transaction', milliseconds: number, isGood: boolean): void
  /** What happened otherwise. */
  heard(observation: Observation): void
  /** Adds families that are read when somebody asks; what fails, or is not there soon, is left out. */
  source(read: () => Promise<readonly Family[]>): void
  read(): Promise<readonly Family[]>
}

export function openMeters(): Meters {
  const requests = openCounter(REQUESTS, ['route', 'status'])
  const durations = openHistogram(REQUEST_SECONDS, 'route')
  const work = openHistogram(WORK_SECONDS, 'kind')
  const failedWork = openCounter(WORK_FAILED, ['kind'], [['read'], ['write'], ['transaction']])
  const events = openCounter(
    EVENTS,
    ['event'],
    COUNTED.map(kind => [kind]),
  )
  const steps = openCounter(STEPS, [], [[]])
  const processFamilies = openProcessFamilies()
  const counted = new Set<string>(COUNTED)
  const sources: (() => Promise<readonly Family[]>)[] = []
  return {
    answered(route, status, milliseconds) {
      requests.add([route, String(status)])
      durations.add(route, milliseconds / 1000)
    },
    ran(kind, milliseconds, isGood) {
      work.add(kind, milliseconds / 1000)
      if (!isGood) failedWork.add([kind])
    },
    heard(observation) {
      if (counted.has(observation.kind)) events.add([observation.kind])
      if (observation.kind === 'migrated') steps.add([], observation.steps)
    },
    source: read => void sources.push(read),
    async read() {
      const more = await Promise.all(
        sources.map(read => within<readonly Family[]>(PATIENCE, read(), []).catch(() => [])),
      )
      const own = [requests, durations, work, failedWork, events, steps].map(each => each.read())
      return [...own, ...more.flat(), ...processFamilies()]
    },
  }
}

/** Milliseconds for what the database is asked: where it does not answer, all other numbers are wanted most. */
const PATIENCE = 1_000

/** What is rare, and worth an alarm or a look. */
const COUNTED = [
  'reloaded',
  'reloadRefused',
  'migrated',
  'failed',
  'unavailable',
  'timedOut',
  'malformed',
  'acceptFailed',
  'slowWork',
  'connectionLost',
  'mailFailed',
  'policyFailed',
  'pluginFailed',
  'eventPostponed',
  'eventFailed',
  'eventsStalled',
  'outdated',
] as const satisfies readonly Observation['kind'][]

const REQUESTS = { name: 'plinth_http_requests_total', help: 'Requests that were answered.' }
const REQUEST_SECONDS = {
  name: 'plinth_http_request_duration_seconds',
  help: 'From the head of a request to its answer.',
}
const WORK_SECONDS = {
  name: 'plinth_database_work_seconds',
  help: 'Statements outside of transactions, and whole transactions, with the wait for a connection.',
}
const WORK_FAILED = {
  name: 'plinth_database_failures_total',
  help: 'Of those, the ones that PostgreSQL or the work itself ended.',
}
const EVENTS = { name: 'plinth_events_total', help: 'What the log tells of, by its kind.' }
const STEPS = { name: 'plinth_migration_steps_total', help: 'Changes of tables that this process made.' }
