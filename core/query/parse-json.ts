import { isUtf8 } from 'node:buffer'
import { nestingLevels } from '../base/plain-data.ts'
import { fault, RequestFault } from '../faults/fault.ts'

/** Deeper than any document. The limit protects later code, which is recursive. */
export const MAX_BODY_DEPTH = 100

/** The text of a body. */
export const decodeBody = (bytes: Buffer): string =>
  decodeUtf8(bytes, 'a body has to be UTF-8 text without a Content-Encoding')

/** Decoded as UTF-8, other bytes would be stored as replacement characters: they are refused with `rule`. */
export function decodeUtf8(bytes: Buffer, rule: string): string {
  if (!isUtf8(bytes)) throw new RequestFault(fault('syntax', `invalid UTF-8: ${rule}`))
  return bytes.toString('utf8')
}

/** Parses the JSON text of a body: an object or a list of plain data, at most `depth` levels deep. */
export function parseJsonBody(body: string, depth = MAX_BODY_DEPTH): object {
  const text = withoutMark(body)
  if (!/^\s*[[{]/.test(text))
    throw new RequestFault(fault('syntax', 'invalid JSON, only supports object and array'))
  try {
    const parsed: object = JSON.parse(text)
    assertPlainBody(parsed, depth)
    return parsed
  } catch (reason) {
    if (reason instanceof SyntaxError) throw new RequestFault(fault('syntax', reason.message))
    throw reason
  }
}

/** Editors on Windows put a byte order mark in front. */
export const withoutMark = (body: string): string => body.replace(/^\uFEFF/, '')

/** Refuses deep nesting and `__proto__` keys, with which an assignment of code would change a prototype. */
export function assertPlainBody(body: object, most = MAX_BODY_DEPTH): void {
  let depth = 0
  for (const level of nestingLevels(body)) {
    depth += 1
    if (depth > most) throw new RequestFault(fault('validation', `A body may be at most ${most} levels deep`))
    if (level.some(each => Object.hasOwn(each, '__proto__')))
      throw new RequestFault(fault('syntax', 'Object contains forbidden prototype property'))
  }
}
