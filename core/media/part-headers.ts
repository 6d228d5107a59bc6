import { isUtf8 } from 'node:buffer'
import { EventEmitter } from 'node:events'
import type { BusboyInstance } from '@fastify/busboy'
import { type Fault, fault } from '../faults/fault.ts'

/** Maximum number and bytes of the headers of one part. */
const MAX_COUNT = 50
const MAX_BYTES = 8_192

/** Busboy cuts longer headers without an error, so it reads a little more than is allowed. */
export const HEADER_BOUNDS = { headerPairs: MAX_COUNT + 1, headerSize: MAX_BYTES + 256 }

/** The headers of a part: each character is one byte. */
type PartHeaders = Readonly<Record<string, readonly string[]>>

/**
 * Calls `refuse` for parts whose headers Busboy would cut, decode with replacement characters, or skip without an event.
 * Only its inner parser has their bytes. The bundle contains the version of Busboy that the tests run.
 */
export function watchPartHeaders(busboy: BusboyInstance, refuse: (reason: Fault) => void): void {
  let count = 0
  innerParser(busboy).prependListener('part', (part: EventEmitter) => {
    const index = ++count
    part.prependListener('header', (headers: PartHeaders) => {
      const reason = checkHeaders(headers, index)
      if (reason) refuse(reason)
    })
  })
}

function innerParser(busboy: BusboyInstance): EventEmitter {
  const { _parser: outer } = busboy as { readonly _parser?: { readonly parser?: unknown } }
  if (outer?.parser instanceof EventEmitter) return outer.parser
  throw new TypeError('Busboy has another structure than in the tested version')
}

/** `index`: the number of the part, from 1. */
function checkHeaders(headers: PartHeaders, index: number): Fault | null {
  const lines = Object.entries(headers).flatMap(([name, values]) => values.map(value => `${name}: ${value}`))
  if (lines.length > MAX_COUNT)
    return fault('payloadTooLarge', `Part ${index} of the form may have at most ${MAX_COUNT} headers`)
  if (lines.join('\r\n').length > MAX_BYTES)
    return fault(
      'payloadTooLarge',
      `The headers of part ${index} of the form may have at most ${MAX_BYTES} bytes`,
    )
  const wrong = lines.find(line => !isText(line))
  if (wrong !== undefined) return fault('syntax', `invalid UTF-8: ${rule(index)} (${show(wrong)})`)
  const [disposition = ''] = headers['content-disposition'] ?? []
  return FORM_DATA.test(disposition) ? null : fault('badRequest', `The form cannot be read: ${noForm(index)}`)
}

const FORM_DATA = /^\s*form-data\s*(?:;|$)/i

const rule = (index: number): string => `the headers of part ${index} of the form have to be UTF-8 text`
const noForm = (index: number): string => `part ${index} has no header Content-Disposition: form-data`

/** The beginning of a header, with replacement characters. */
const show = (line: string): string => Buffer.from(line.slice(0, 200), 'latin1').toString('utf8')

/** True if a header is UTF-8, also within the encoded form of RFC 8187: `filename*=UTF-8''caf%C3%A9.txt`. */
function isText(line: string): boolean {
  if (!isUtf8(Buffer.from(line, 'latin1'))) return false
  for (const [, encoded = ''] of line.matchAll(ENCODED))
    if (!isUtf8(Buffer.from(encoded.replace(/%([\da-f]{2})/gi, toCharacter), 'latin1'))) return false
  return true
}

const ENCODED = /\*=utf-?8'[^']*'([^;\s]*)/gi

const toCharacter = (_: string, hex: string): string => String.fromCharCode(Number.parseInt(hex, 16))
