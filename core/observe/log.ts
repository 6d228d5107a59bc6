import { type DestinationStream, type Level, pino } from 'pino'
import { toLogSentence } from './log-sentence.ts'
import type { Observation, ObservationKind, Observer } from './observation.ts'

export interface LogOptions {
  readonly level: Level | 'silent'
  /** Sentences for a terminal instead of JSON for a collector. */
  readonly pretty: boolean
  /** The number of this worker; absent: the server has one process. */
  readonly worker?: number | undefined
  /** Redacts secrets; applied to every line. */
  readonly redact: (text: string) => string
  /** The output. */
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

/** An observer that writes observations as log lines. */
export function openLog({ level, pretty, worker, redact, write }: LogOptions): Observer {
  const out: DestinationStream = { write: line => write(redact(line)) }
  const log = pino(
    { level, base: worker === undefined ? null : { worker }, timestamp: pino.stdTimeFunctions.isoTime },
    pretty ? prettyStream(out) : out,
  )
  return {
    isEnabled: kind => log.isLevelEnabled(LEVELS[kind]),
    emit: observation => log[LEVELS[observation.kind]](fieldsOf(observation), toLogSentence(observation)),
  }
}

function fieldsOf(observation: Observation): object {
  const { kind, ...fields } = observation
  if (!('error' in fields)) return { event: kind, ...fields }
  return { event: kind, ...fields, error: describeError(fields.error) }
}

const MAX_CAUSES = 5

/** The stack of an error and of its causes. Other properties are not logged: they may contain secrets or values. */
function describeError(error: unknown, causes = MAX_CAUSES): string {
  if (!(error instanceof Error)) return String(error)
  const hasCause = causes > 0 && error.cause !== undefined
  const cause = hasCause ? `\ncaused by ${describeError(error.cause, causes - 1)}` : ''
  return `${error.stack ?? error.message}${cause}`
}

const LEVEL_NAMES: Readonly<Record<number, string>> = {
  10: 'trace',
  20: 'debug',
  30: 'info',
  40: 'warn',
  50: 'error',
  60: 'fatal',
}

interface JsonLine {
  readonly level: number
  readonly time: string
  readonly msg: string
  readonly worker?: number
  readonly requestId?: string
  readonly error?: string
}

/** Converts pino's JSON lines to `12:30:00 warn  sentence`, with the request's id and the error if there are any. */
const prettyStream = (out: DestinationStream): DestinationStream => ({
  write: line => out.write(`${toPrettyLine(JSON.parse(line))}\n`),
})

function toPrettyLine({ level, time, msg, worker, requestId, error }: JsonLine): string {
  const prefix = worker === undefined ? '' : `${worker}: `
  const request = requestId === undefined ? '' : ` [${requestId}]`
  const stack = error === undefined ? '' : `\n${error.replace(/^/gm, '    ')}`
  return `${time.slice(11, 19)} ${(LEVEL_NAMES[level] ?? '').padEnd(5)} ${prefix}${msg}${request}${stack}`
}
