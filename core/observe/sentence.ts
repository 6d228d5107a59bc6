import type { Observation } from './observation.ts'

/** An observation as one sentence. */
export function toLine(observation: Observation): string {
  switch (observation.kind) {
    case 'listening':
      return `Listening on ${observation.url} after ${Math.round(observation.milliseconds)} ms`
    case 'stopping':
      return `Stopping: ${observation.waiting} requests are still being answered`
    case 'stopped':
      return observation.cut === 0 ? 'Stopped' : `Stopped; ${observation.cut} requests were cut off`
    case 'answered':
      return `${observation.method} ${observation.path} ${observation.status} in ${observation.milliseconds.toFixed(1)} ms`
    case 'failed':
      return 'A request failed unexpectedly'
    case 'unavailable':
      return `Unavailable: ${observation.reason}`
    case 'timedOut':
      return `No answer in time to ${observation.path}`
    case 'malformed':
      return `Dropped a malformed request: ${observation.code}`
  }
}
