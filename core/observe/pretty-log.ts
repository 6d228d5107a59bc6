import type { DestinationStream } from 'pino'

const NAMES: Readonly<Record<number, string>> = {
  10: 'trace',
  20: 'debug',
  30: 'info',
  40: 'warn',
  50: 'error',
  60: 'fatal',
}

interface Line {
  readonly level: number
  readonly time: string
  readonly msg: string
  readonly worker?: number
  readonly requestId?: string
  readonly error?: string
}

/** JSON lines → `12:30:00 warn  sentence`, with the request and the error where there are any. */
export const prettyStream = (out: DestinationStream): DestinationStream => ({
  write: line => out.write(`${toSentence(JSON.parse(line))}\n`),
})

function toSentence({ level, time, msg, worker, requestId, error }: Line): string {
  const who = worker === undefined ? '' : `${worker}: `
  const request = requestId === undefined ? '' : ` [${requestId}]`
  const trouble = error === undefined ? '' : `\n${error.replace(/^/gm, '    ')}`
  return `${time.slice(11, 19)} ${(NAMES[level] ?? '').padEnd(5)} ${who}${msg}${request}${trouble}`
}
