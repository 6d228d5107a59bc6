import type { Observation } from './observation.ts'

/** An observation as one sentence. */
export function toLine(observation: Observation): string {
  switch (observation.kind) {
    case 'databaseOpened':
      return `Opened the ${observation.database === 'embedded' ? 'embedded database' : 'database server'} in ${Math.round(observation.milliseconds)} ms`
    case 'databaseRecovered':
      return `Took over the embedded database from process ${observation.pid}, which died with it open`
    case 'databaseAwaited':
      return `${observation.message} Waiting for it, ${Math.round(observation.milliseconds / 1_000)} s at most`
    case 'connectionLost':
      return `Lost a connection to the database: ${observation.message}`
    case 'replicaAway':
      return `The replica at ${observation.place} answers no reads, the primary does: ${observation.message}`
    case 'replicaBack':
      return `The replica at ${observation.place} answers reads again`
    case 'upkeepFailed':
      return `Could not tidy up the embedded database: ${observation.message}`
    case 'accessFailed':
      return `Commands cannot work on the embedded database while this process runs: ${observation.message}`
    case 'prepared':
    case 'mail':
    case 'mailFailed':
      return observation.what
    case 'migrated':
      return `Made ${observation.steps} changes of tables in ${Math.round(observation.milliseconds)} ms`
    case 'listening':
      return `Listening on ${observation.url} after ${Math.round(observation.milliseconds)} ms`
    case 'reloaded':
      return `Reloaded ${nameFew(observation.files)}in ${Math.round(observation.milliseconds)} ms`
    case 'reloadRefused':
      return `Not reloaded; the server goes on as before:\n${observation.why}`
    case 'restartNeeded':
      return `${observation.keys.join(', ')}: changed, but needs a restart to take effect`
    case 'watchFailed':
      return `Saved files may take effect a little later: ${observation.message}`
    case 'workerEnded':
      return `Worker ${observation.worker} (process ${observation.pid}) ended by ${observation.why}; another takes its place ${observation.delay === 0 ? 'at once' : `in ${observation.delay / 1_000} s`}`
    case 'workerStalled':
      return `Worker ${observation.worker} (process ${observation.pid}) is killed: its event loop has stood still for ${observation.milliseconds / 1_000} s (an endless loop in code of the project?)`
    case 'workerBehind':
      return `Worker ${observation.worker} could not reload what others serve now, and goes on as before: see its line above; SIGHUP tries again`
    case 'stopping':
      return `Stopping: ${observation.waiting} requests are still being answered`
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
      return `${toldEvent(observation)} (attempt ${observation.attempts}); it comes again in ${Math.round(observation.delay / 1_000)} s`
    case 'eventFailed':
      return `${toldEvent(observation)} (attempt ${observation.attempts}); the event is kept in plinth_outbox and does not come again`
    case 'eventsUnheard':
      return `${observation.events} events wait for the listener ${observation.listener}, which is not there`
    case 'eventsStalled':
      return 'Events wait: the database cannot be asked for them'
    case 'unavailable':
      return `Unavailable: ${observation.reason}`
    case 'outdated':
      return `Requests are refused: another version of the project changed the tables in a way that this one cannot serve beside (${observation.reason}). Restart this server with the project as it is now; next time \`plinth migrate --expand\` tells beforehand whether both can serve`
    case 'slowWork':
      return `The database took ${Math.round(observation.milliseconds)} ms: ${JSON.stringify(observation.work)}`
    case 'timedOut':
      return `No answer in time to ${observation.path}`
    case 'acceptFailed':
      return `Connections cannot be accepted: ${observation.message}`
    case 'malformed':
      return `Dropped a malformed request: ${observation.code}`
  }
}

const FEW = 3

function nameFew(files: readonly string[]): string {
  if (files.length === 0) return ''
  const more = files.length > FEW ? ` and ${files.length - FEW} more` : ''
  return `${files.slice(0, FEW).join(', ')}${more} `
}

const toldEvent = ({
  listener,
  name,
  documentId,
}: Record<'listener' | 'name' | 'documentId', string>): string =>
  `The listener ${listener} failed on ${name} of ${documentId}`
