import { type DestinationStream, type Level, pino } from 'pino'
import { toReadableError } from '../base/project-frame.ts'
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
  refused: 'debug',
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
  // A developer sees refusals; in production clients could fill the log with them.
  const levels = pretty ? { ...LEVELS, refused: 'info' as const } : LEVELS
  return {
    isEnabled: kind => log.isLevelEnabled(levels[kind]),
    emit: observation => log[levels[observation.kind]](fieldsOf(observation), toLogSentence(observation)),
  }
}

function fieldsOf(observation: Observation): object {
  const { kind, ...others } = observation
  const fields = 'fields' in others ? withoutNesting(others) : others
  if (!('error' in fields)) return { event: kind, ...fields }
  return { event: kind, ...fields, error: describeError(fields.error) }
}

/** Fields of a plugin are keys of the line itself; a name that the line already has gets a `_`. */
function withoutNesting({
  fields = {},
  ...others
}: {
  readonly fields?: Readonly<Record<string, unknown>>
  readonly error?: unknown
}): Readonly<Record<string, unknown>> {
  const named = Object.entries(fields).map(([name, value]) => [
    OWN_KEYS.has(name) ? `${name}_` : name,
    toField(value),
  ])
  return { ...Object.fromEntries(named), ...others }
}

/** A field of project code. Reading it may throw, as that of a revoked proxy does. */
function toField(value: unknown): unknown {
  try {
    return value instanceof Error ? describeError(value) : value
  } catch {
    return 'a value that cannot be read'
  }
}

const OWN_KEYS: ReadonlySet<string> = new Set(['level', 'time', 'msg', 'message', 'worker', 'event'])

const MAX_CAUSES = 5

/**
 * The stack of an error and of its causes. Other properties are not logged: they may contain secrets or values. Never
 * throws, whatever project code has thrown: a request would get no answer.
 */
function describeError(thrown: unknown, causes = MAX_CAUSES): string {
  if ((typeof thrown !== 'object' && typeof thrown !== 'function') || thrown === null) return String(thrown)
  const error = toReadableError(thrown)
  try {
    const cause = causes > 0 ? error.cause : undefined
    return `${stackOf(error)}${cause === undefined ? '' : `\ncaused by ${describeError(cause, causes - 1)}`}`
  } catch {
    return 'an error that cannot be read'
  }
}

/** Sequelize replaces stacks by ones without the message. */
function stackOf({ stack, name, message }: Error): string {
  if (stack === undefined) return message
  return stack.includes(message) ? stack : `${String(name)}: ${message}\n${stack.replace(/^.*\n/, '')}`
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
  readonly event?: string
  readonly message?: string
}

/** Converts pino's JSON lines to `12:30:00 warn  sentence`, with the request's id and the error if there are any. */
const prettyStream = (out: DestinationStream): DestinationStream => ({
  write: line => out.write(`${toPrettyLine(JSON.parse(line))}\n`),
})

function toPrettyLine(line: JsonLine): string {
  const { level, time, msg, worker, requestId, error, event = '', message: _, ...fields } = line
  const added = event.startsWith('plugin') && Object.keys(fields).length > 0
  const values = added ? ` ${JSON.stringify(fields)}` : ''
  const prefix = worker === undefined ? '' : `${worker}: `
  const request = requestId === undefined ? '' : ` [${requestId}]`
  const stack = error === undefined ? '' : `\n${error.replace(/^/gm, '    ')}`
  return `${time.slice(11, 19)} ${(LEVEL_NAMES[level] ?? '').padEnd(5)} ${prefix}${msg}${values}${request}${stack}`
}

/** The sentence that the log shows for an observation. */
function toLogSentence(observation: Observation): string {
  switch (observation.kind) {
    case 'databaseOpened':
      return `Opened the ${observation.database === 'embedded' ? 'embedded database' : 'database server'} in ${Math.round(observation.milliseconds)} ms`
    case 'databaseRecovered':
      return `Took over the embedded database from process ${observation.pid}, which died with it open`
    case 'databaseAwaited':
      return `${observation.message} Waiting for the database, at most ${Math.round(observation.milliseconds / 1_000)} s`
    case 'connectionLost':
      return `Lost a connection to the database: ${observation.message}`
    case 'replicaAway':
      return `The replica at ${observation.place} is unavailable; reads go to the primary: ${observation.message}`
    case 'replicaBack':
      return `The replica at ${observation.place} answers reads again`
    case 'upkeepFailed':
      return `Maintenance of the database failed: ${observation.message}`
    case 'accessFailed':
      return `Commands cannot use the embedded database while this process runs: ${observation.message}`
    case 'prepared':
    case 'mail':
    case 'mailFailed':
      return observation.what
    case 'migrated':
      return `Applied ${observation.steps} migration steps in ${Math.round(observation.milliseconds)} ms`
    case 'listening':
      return `Listening on ${observation.url} after ${Math.round(observation.milliseconds)} ms`
    case 'reloaded':
      return `Reloaded ${nameFew(observation.files)}in ${Math.round(observation.milliseconds)} ms`
    case 'reloadRefused':
      return `Not reloaded; the server keeps serving the previous version:\n${observation.why}`
    case 'restartNeeded':
      return `${observation.keys.join(', ')}: changed, but needs a restart to take effect`
    case 'watchFailed':
      return `Saved files may take effect a little later: ${observation.message}`
    case 'workerEnded':
      return `Worker ${observation.worker} (process ${observation.pid}) ended by ${observation.why}; it is replaced ${observation.delay === 0 ? 'at once' : `in ${observation.delay / 1_000} s`}`
    case 'workerStalled':
      return `Worker ${observation.worker} (process ${observation.pid}) is killed: its event loop was blocked for ${observation.milliseconds / 1_000} s (an endless loop in code of the project?)`
    case 'workerBehind':
      return `Worker ${observation.worker} could not reload the version that the other workers serve, and keeps the previous one: see its line above; SIGHUP tries again`
    case 'stopping':
      return `Stopping: ${observation.waiting} requests are in flight`
    case 'stopped':
      return observation.cut === 0 ? 'Stopped' : `Stopped; ${observation.cut} requests were cut off`
    default:
      return toWorkSentence(observation)
  }
}

/** Observations of requests, plugins and events. */
type WorkObservation = Extract<
  Observation,
  {
    kind:
      | 'answered'
      | 'refused'
      | 'failed'
      | 'policyRefused'
      | 'policyFailed'
      | 'pluginSaid'
      | 'pluginWarned'
      | 'pluginFailed'
      | 'eventPostponed'
      | 'eventFailed'
      | 'eventsUnheard'
      | 'eventsStalled'
      | 'unavailable'
      | 'outdated'
      | 'slowWork'
      | 'timedOut'
      | 'acceptFailed'
      | 'malformed'
  }
>

function toRequestSentence(answered: Extract<Observation, { kind: 'answered' | 'refused' }>): string {
  const { method, path, status, milliseconds, caller } = answered
  const who = caller === null ? '' : ` for ${caller}`
  const why = answered.kind === 'refused' ? `: ${answered.reason}` : ''
  return `${method} ${path} ${status} in ${milliseconds.toFixed(1)} ms${who}${why}`
}

function toWorkSentence(observation: WorkObservation): string {
  switch (observation.kind) {
    case 'answered':
    case 'refused':
      return toRequestSentence(observation)
    case 'failed':
      return 'A request failed unexpectedly'
    case 'policyRefused':
      return `The policy ${observation.policy} refused`
    case 'policyFailed':
      return `The policy ${observation.policy} failed and refused: ${observation.reason}`
    case 'pluginSaid':
    case 'pluginWarned':
    case 'pluginFailed':
      return observation.message
    case 'eventPostponed':
      return `${eventFailure(observation)} (attempt ${observation.attempts}); retry in ${Math.round(observation.delay / 1_000)} s`
    case 'eventFailed':
      return `${eventFailure(observation)} (attempt ${observation.attempts}); no more retries; the event is kept in plinth_outbox`
    case 'eventsUnheard':
      return `${observation.events} events wait for the listener ${observation.listener}, which the project does not have`
    case 'eventsStalled':
      return 'Events are delayed: the outbox in the database is not reachable'
    case 'unavailable':
      return `Unavailable: ${observation.reason}`
    case 'outdated':
      return `Requests are refused: another version of the project changed the tables incompatibly (${observation.reason}). Restart this server with the current project; next time \`plinth migrate --expand\` checks beforehand whether both versions can serve`
    case 'slowWork':
      return `The database took ${Math.round(observation.milliseconds)} ms: ${JSON.stringify(observation.work)}`
    case 'timedOut':
      return `The request to ${observation.path} timed out`
    case 'acceptFailed':
      return `Connections cannot be accepted: ${observation.message}`
    case 'malformed':
      return `Dropped a malformed request: ${observation.code}`
  }
}

const MAX_NAMED = 3

function nameFew(files: readonly string[]): string {
  if (files.length === 0) return ''
  const more = files.length > MAX_NAMED ? ` and ${files.length - MAX_NAMED} more` : ''
  return `${files.slice(0, MAX_NAMED).join(', ')}${more} `
}

const eventFailure = ({
  listener,
  name,
  documentId,
}: Record<'listener' | 'name' | 'documentId', string>): string =>
  `The listener ${listener} failed on ${name} of ${documentId}`
