import { type DestinationStream, type Level, pino } from 'pino'
import { toLine } from './log-sentence.ts'
import type { Observation, ObservationKind, Observer } from './observation.ts'
import { prettyStream } from './pretty-log.ts'

export interface LogTerms {
  readonly level: Level | 'silent'
  /** Sentences for a terminal instead of JSON for a collector. */
  readonly pretty: boolean
  /** The number of the worker whose lines they are; absent: there are not several. */
  readonly worker?: number | undefined
  /** Hides secrets in whatever is written. */
  readonly redact: (text: string) => string
  /** Where lines go. */
  readonly write: (line: string) => void
}

const LEVELS: { readonly [Kind in ObservationKind]: Level } = {
  databaseOpened: 'debug',
  databaseRecovered: 'warn',
  databaseAwaited: 'warn',
  connectionLost: 'warn',
  replicaAway: 'warn',
  replicaBack: 'info',
  upkeepFailed: 'warn',
  accessFailed: 'warn',
  prepared: 'info',
  migrated: 'debug',
  mail: 'info',
  mailFailed: 'error',
  listening: 'info',
  reloaded: 'info',
  reloadRefused: 'error',
  restartNeeded: 'warn',
  watchFailed: 'warn',
  workerEnded: 'error',
  workerStalled: 'error',
  workerBehind: 'error',
  stopping: 'info',
  stopped: 'info',
  answered: 'debug',
  failed: 'error',
  policyRefused: 'debug',
  policyFailed: 'warn',
  pluginSaid: 'info',
  pluginWarned: 'warn',
  pluginFailed: 'error',
  eventPostponed: 'warn',
  eventFailed: 'error',
  eventsUnheard: 'warn',
  eventsStalled: 'warn',
  unavailable: 'error',
  outdated: 'error',
  slowWork: 'warn',
  timedOut: 'warn',
  acceptFailed: 'error',
  malformed: 'debug',
}

/** Observations → lines of a log. */
export function openLog({ level, pretty, worker, redact, write }: LogTerms): Observer {
  const out: DestinationStream = { write: line => write(redact(line)) }
  const log = pino(
    { level, base: worker === undefined ? null : { worker }, timestamp: pino.stdTimeFunctions.isoTime },
    pretty ? prettyStream(out) : out,
  )
  return {
    hears: kind => log.isLevelEnabled(LEVELS[kind]),
    tell: observation => log[LEVELS[observation.kind]](fieldsOf(observation), toLine(observation)),
  }
}

function fieldsOf(observation: Observation): object {
  const { kind, ...fields } = observation
  if (!('error' in fields)) return { event: kind, ...fields }
  return { event: kind, ...fields, error: describe(fields.error) }
}

const MOST_CAUSES = 5

/** An error with its causes, as text: nothing else that hangs on it goes to the log. */
function describe(error: unknown, causes = MOST_CAUSES): string {
  if (!(error instanceof Error)) return String(error)
  const told = causes > 0 && error.cause !== undefined
  const cause = told ? `\ncaused by ${describe(error.cause, causes - 1)}` : ''
  return `${error.stack ?? error.message}${cause}`
}
