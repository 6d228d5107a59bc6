import type { Observation } from './observation.ts'

/** The sentence that the log shows for an observation. */
export function toLogSentence(observation: Observation): string {
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
      return `Maintenance of the embedded database failed: ${observation.message}`
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
    case 'answered':
      return `${observation.method} ${observation.path} ${observation.status} in ${observation.milliseconds.toFixed(1)} ms`
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
