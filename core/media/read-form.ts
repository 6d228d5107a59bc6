import { isUtf8 } from 'node:buffer'
import { EventEmitter } from 'node:events'
import type { IncomingHttpHeaders } from 'node:http'
import type { Readable } from 'node:stream'
import { Busboy, type BusboyInstance } from '@fastify/busboy'
import { type HeldBytes, RECEIVING } from '../base/byte-budget.ts'
import { ByteParts } from '../base/byte-parts.ts'
import { attempt, type Fault, fault, RequestFault, tooManyBodies } from '../faults/fault.ts'
import { decodeUtf8 } from '../query/parse-json.ts'
import { discardFiles, type StagedFile, stage } from './storage/staging.ts'

/** A multipart form with staged files. The caller must discard them. */
export interface MultipartForm {
  readonly files: readonly FormFile[]
  readonly fields: ReadonlyMap<string, readonly string[]>
}

export interface FormFile {
  /** Name of the form field. */
  readonly field: string
  /** The value that the client sent. */
  readonly filename: string
  readonly staged: StagedFile
}

export interface ReadFormOptions {
  readonly folder: string
  /** Maximum size of one file in bytes. */
  readonly sizeLimit: number
  readonly rules: FormRules
}

/** Limits on a form. */
export interface FormRules {
  /** True if a file of this field is kept. `before`: the fields that came before it. Other files are skipped. */
  accepts(field: string, before: ReadonlyMap<string, readonly string[]>): boolean
  /** Maximum number of fields. */
  readonly fields: number
  /** Maximum size of all fields together in bytes; null: fields are skipped, as files that are not kept. */
  readonly fieldBytes: number | null
}

export interface FormSource {
  readonly headers: IncomingHttpHeaders
  stream(): Readable
}

const MAX_FILES = 100

export const isForm = ({ headers }: FormSource): boolean =>
  /^\s*multipart\/form-data\s*(?:;|$)/i.test(headers['content-type'] ?? '')

/**
 * Streams a form, so that no file is held in memory. Rejects with a RequestFault for a form that is malformed or exceeds
 * a limit, and with another error if staging fails.
 */
export async function readForm(source: FormSource, options: ReadFormOptions): Promise<MultipartForm> {
  const busboy = openParser(source)
  const reading: FormReading = {
    options,
    fields: new Map(),
    counts: { fields: 0, fieldBytes: 0, files: 0 },
    streams: [],
    files: [],
  }
  const refusal = await parseForm(source.stream(), busboy, reading).finally(() => reading.held?.release())
  if (refusal) for (const stream of reading.streams) stream.destroy(new Error(refusal.message))
  const settled = await Promise.allSettled(reading.files)
  const files = settled.flatMap(file => (file.status === 'fulfilled' ? [file.value] : []))
  const failedFile = settled.find(file => file.status === 'rejected')
  if (!refusal && !failedFile) return { files, fields: reading.fields }
  await discardFiles(files.map(file => file.staged.path))
  if (refusal instanceof Error) throw refusal
  throw refusal ? new RequestFault(refusal) : failedFile?.reason
}

/** All parts are read as streams: texts that Busboy decodes have replacement characters for bytes that are no UTF-8. */
function openParser({ headers }: FormSource): BusboyInstance {
  const type = headers['content-type'] ?? ''
  if (EMPTY_BOUNDARY.test(type)) throw new RequestFault(malformed(NO_BOUNDARY))
  try {
    return new Busboy({
      headers: { ...headers, 'content-type': type },
      limits: HEADER_BOUNDS,
      isPartAFile: () => true,
      // Without the path, `..` would be a file without a name, which is skipped.
      preservePath: true,
    })
  } catch (error) {
    // The media type is known to be right: only its boundary can be missing, or too long to be searched for.
    throw error instanceof Error ? new RequestFault(malformed(NO_BOUNDARY)) : error
  }
}

const EMPTY_BOUNDARY = /;\s*boundary\s*=\s*(?:""\s*)?(?:;|$)/i

/** What clients do wrong that set the header by hand. */
const NO_BOUNDARY = {
  message:
    'Content-Type needs a boundary of 1 to 250 characters; clients add it to forms themselves if the request sets no Content-Type',
}

/** Why reading stopped: a fault of the form, or an unexpected error. */
type Failure = Fault | Error

interface FormReading {
  readonly options: ReadFormOptions
  readonly fields: Map<string, string[]>
  /** Parts that have begun. */
  readonly counts: { fields: number; fieldBytes: number; files: number }
  readonly streams: Readable[]
  readonly files: Promise<FormFile>[]
  /** The bytes of its fields. */
  held?: HeldBytes
}

/** Resolves to null when the form has ended, or to the reason for refusing it, after draining the rest of the body. */
function parseForm(source: Readable, busboy: BusboyInstance, reading: FormReading): Promise<Failure | null> {
  return new Promise(resolve => {
    let refused = false
    const refuse = (reason: Failure): void => {
      if (refused) return
      refused = true
      source.unpipe(busboy)
      drainBody(source, () => resolve(reason))
    }
    reading.held = RECEIVING.hold(reading, 0, () => refuse(tooManyBodies()))
    watchPartHeaders(busboy, refuse)
    subscribe(busboy, reading, refuse)
    busboy.on('error', (error: Error) => refuse(malformed(error)))
    busboy.on('finish', () => resolve(null))
    source.on('error', () => refuse(interrupted()))
    source.on('close', () => {
      if (!source.readableEnded) refuse(interrupted())
    })
    source.pipe(busboy)
  })
}

/** Milliseconds to wait for the rest of a refused body. */
const DRAIN_TIMEOUT = 2_000

/** Drains the body before responding: if the connection closes while the client still sends, the response is lost. */
function drainBody(source: Readable, answer: () => void): void {
  if (source.readableEnded || source.destroyed) {
    answer()
    return
  }
  const timer = setTimeout(answer, DRAIN_TIMEOUT)
  const finish = () => {
    clearTimeout(timer)
    answer()
  }
  source.once('end', finish)
  source.once('close', finish)
  source.resume()
}

type Refuse = (reason: Failure) => void

function subscribe(busboy: BusboyInstance, reading: FormReading, refuse: Refuse): void {
  let finishField = () => {}
  busboy.on('file', (field = '', stream, filename, _encoding, type) => {
    try {
      if (field === '') refuse(malformed({ message: 'a part has no name' }))
      // Its stream ends later than the next part begins, which may depend on the field.
      finishField()
      finishField = () => {}
      const isFile = filename !== undefined || type === 'application/octet-stream'
      if (isFile) stageFile(stream, { field, filename, refuse }, reading)
      else finishField = readField(stream, { field, refuse }, reading)
    } catch (error) {
      // An exception in a listener would end the process.
      stream.resume()
      refuse(error instanceof Error ? error : new Error('A part could not be read', { cause: error }))
    }
  })
}

interface FieldPart {
  readonly field: string
  readonly refuse: Refuse
}

/** Returns what adds the field to the form, once its bytes have arrived; it is called when its stream ends, too. */
function readField(stream: Readable, { field, refuse }: FieldPart, reading: FormReading): () => void {
  const { fields: maxFields, fieldBytes } = reading.options.rules
  const parts = new ByteParts()
  let isAdded = false
  reading.counts.fields += 1
  if (reading.counts.fields > maxFields) refuse(limitExceeded(`A form may have at most ${maxFields} fields`))
  stream.on('error', () => refuse(interrupted()))
  if (fieldBytes === null) {
    stream.resume()
    return () => {}
  }
  stream.on('data', (part: Buffer) => {
    reading.counts.fieldBytes += part.length
    reading.held?.add(part.length)
    if (reading.counts.fieldBytes <= fieldBytes) parts.add(part)
    else refuse(limitExceeded(`The fields of a form may have at most ${fieldBytes} bytes together`))
  })
  const finish = () => {
    if (isAdded) return
    isAdded = true
    while (stream.read() !== null);
    const text = attempt(() =>
      decodeUtf8(parts.toBuffer(), `the field ${field} of a form has to be UTF-8 text`),
    )
    if (text.ok) reading.fields.set(field, [...(reading.fields.get(field) ?? []), text.value])
    else for (const reason of text.reasons) refuse(reason)
  }
  stream.on('end', finish)
  return finish
}

interface FilePart extends FieldPart {
  readonly filename: string | undefined
}

function stageFile(stream: Readable, { field, filename, refuse }: FilePart, reading: FormReading): void {
  const { options, fields, counts, streams, files } = reading
  counts.files += 1
  if (counts.files > MAX_FILES) refuse(limitExceeded(`A form may have at most ${MAX_FILES} files`))
  if (counts.files > MAX_FILES || !filename || !options.rules.accepts(field, fields)) {
    stream.on('error', () => refuse(interrupted()))
    stream.resume()
    return
  }
  // Its error is one of `file`, which has the cause. A full disk also ends the stream.
  stream.on('error', () => undefined)
  streams.push(stream)
  const file = stage(stream, options).then(staged => ({ field, filename: unescapeName(filename), staged }))
  file.catch((error: unknown) => refuse(failureOf(error)))
  files.push(file)
}

/** Forms escape quotes in names, and no percent sign (https://html.spec.whatwg.org/#multipart-form-data). Strapi undoes it, too. */
const unescapeName = (filename: string): string => filename.replaceAll('%22', '"')

function failureOf(error: unknown): Failure {
  if (error instanceof RequestFault) return error.fault
  return isSystemError(error) ? error : interrupted()
}

/** The file system refused: the disk is full, or the folder cannot be written. */
const isSystemError = (error: unknown): error is Error => error instanceof Error && 'syscall' in error

const malformed = ({ message }: Pick<Error, 'message'>): Fault =>
  fault('badRequest', `The form cannot be read: ${message}`)

const interrupted = (): Fault => fault('badRequest', 'The request ended before its body did')

const limitExceeded = (message: string): Fault => fault('payloadTooLarge', message)

/** Maximum number and bytes of the headers of one part. */
const MAX_HEADERS = 50
const MAX_HEADER_BYTES = 8_192

/** Busboy cuts longer headers without an error, so it reads a little more than is allowed. */
const HEADER_BOUNDS = { headerPairs: MAX_HEADERS + 1, headerSize: MAX_HEADER_BYTES + 256 }

/** The headers of a part: each character is one byte. */
type PartHeaders = Readonly<Record<string, readonly string[]>>

/**
 * Calls `refuse` for parts whose headers Busboy would cut, decode with replacement characters, or skip without an event.
 * Only its inner parser has their bytes. The bundle contains the version of Busboy that the tests run.
 */
function watchPartHeaders(busboy: BusboyInstance, refuse: (reason: Fault) => void): void {
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
  if (lines.length > MAX_HEADERS)
    return fault('payloadTooLarge', `Part ${index} of the form may have at most ${MAX_HEADERS} headers`)
  if (lines.join('\r\n').length > MAX_HEADER_BYTES)
    return fault(
      'payloadTooLarge',
      `The headers of part ${index} of the form may have at most ${MAX_HEADER_BYTES} bytes`,
    )
  const wrong = lines.find(line => !isTextHeader(line))
  if (wrong !== undefined) return fault('syntax', `invalid UTF-8: ${needsText(index)} (${showHeader(wrong)})`)
  const [disposition = ''] = headers['content-disposition'] ?? []
  return FORM_DATA.test(disposition) ? null : fault('badRequest', `The form cannot be read: ${noForm(index)}`)
}

const FORM_DATA = /^\s*form-data\s*(?:;|$)/i

const needsText = (index: number): string => `the headers of part ${index} of the form have to be UTF-8 text`
const noForm = (index: number): string => `part ${index} has no header Content-Disposition: form-data`

/** The beginning of a header, with replacement characters. */
const showHeader = (line: string): string => Buffer.from(line.slice(0, 200), 'latin1').toString('utf8')

/** True if a header is UTF-8, also within the encoded form of RFC 8187: `filename*=UTF-8''caf%C3%A9.txt`. */
function isTextHeader(line: string): boolean {
  if (!isUtf8(Buffer.from(line, 'latin1'))) return false
  for (const [, encoded = ''] of line.matchAll(ENCODED_PARAMETER))
    if (!isUtf8(Buffer.from(encoded.replace(/%([\da-f]{2})/gi, toCharacter), 'latin1'))) return false
  return true
}

const ENCODED_PARAMETER = /\*=utf-?8'[^']*'([^;\s]*)/gi

const toCharacter = (_: string, hex: string): string => String.fromCharCode(Number.parseInt(hex, 16))
