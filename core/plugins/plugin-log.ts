import type { Observer } from '../observe/observation.ts'
import type { LogFields, PluginLog } from './context.ts'

/** `app.log`: sentences of plugins, with the values that they add to a line. */
export function openPluginLog(observer: Observer): PluginLog {
  return Object.freeze({
    info: (...given: LogArguments) => observer.emit({ kind: 'pluginSaid', ...lineOf(given) }),
    warn: (...given: LogArguments) => observer.emit({ kind: 'pluginWarned', ...lineOf(given) }),
    error: (...given: LogArguments) => observer.emit({ kind: 'pluginFailed', ...lineOf(given) }),
  })
}

type LogArguments = readonly [LogFields | string, unknown?, unknown?]

interface LogLine {
  readonly message: string
  readonly fields?: LogFields
  readonly error?: unknown
}

/** `(message, error?)` or `(fields, message, error?)`. JavaScript plugins may pass anything. */
function lineOf([first, ...others]: LogArguments): LogLine {
  const hasFields = typeof first === 'object' && first !== null && !(first instanceof Error)
  const [message, error] = hasFields ? others : [first, others[0]]
  return {
    message: String(message ?? ''),
    ...(hasFields && { fields: first }),
    ...(error !== undefined && { error }),
  }
}
