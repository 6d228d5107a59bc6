import type { IncomingHttpHeaders } from 'node:http'
import type { Readable } from 'node:stream'
import { Busboy, type BusboyInstance } from '@fastify/busboy'
import { failed, ok, type Result } from '../base/result.ts'
import { type Fault, fault } from '../faults/fault.ts'
import { discard, type StagedFile, stage } from './storage/staging.ts'

/** A multipart form: its files are staged, and whoever has it discards them. */
export interface Form {
  readonly files: readonly FormFile[]
  readonly fields: ReadonlyMap<string, readonly string[]>
}

export interface FormFile {
  /** The name of its part. */
  readonly field: string
  /** As the client says it. */
  readonly filename: string
  readonly staged: StagedFile
}

export interface FormTerms {
  readonly folder: string
  /** Bytes of one file. */
  readonly sizeLimit: number
  readonly rules: FormRules
}

/** What a form may hold. */
export interface FormRules {
  /** Whether a file is kept that comes under this name, behind these fields; others are passed over. */
  takes(field: string, before: ReadonlyMap<string, readonly string[]>): boolean
  readonly fields: number
  /** Bytes of one field. */
  readonly fieldSize: number
}

export interface FormSource {
  readonly headers: IncomingHttpHeaders
  stream(): Readable
}

const BOUNDS = { files: 100, headerPairs: 50, headerSize: 8_192 }

export const isForm = ({ headers }: FormSource): boolean =>
  /^\s*multipart\/form-data\s*;/i.test(headers['content-type'] ?? '')

/** Reads a form piece by piece: no file is ever in memory. What breaks a bound is refused whole. */
export async function readForm(source: FormSource, terms: FormTerms): Promise<Result<Form, Fault>> {
  const busboy = openParser(source, terms)
  if (busboy instanceof Error) return failed(malformed(busboy))
  const reading: Reading = { terms, fields: new Map(), streams: [], files: [] }
  const trouble = await feed(source.stream(), busboy, reading)
  if (trouble) for (const stream of reading.streams) stream.destroy(new Error(trouble.message))
  const settled = await Promise.allSettled(reading.files)
  const files = settled.flatMap(file => (file.status === 'fulfilled' ? [file.value] : []))
  const broken = settled.find(file => file.status === 'rejected')
  if (!trouble && !broken) return ok({ files, fields: reading.fields })
  await discard(files.map(file => file.staged.path))
  if (trouble) return failed(trouble)
  throw broken?.reason
}

function openParser(
  { headers }: FormSource,
  { sizeLimit, rules: { fields, fieldSize } }: FormTerms,
): BusboyInstance | Error {
  try {
    const type = headers['content-type'] ?? ''
    return new Busboy({
      headers: { ...headers, 'content-type': type },
      limits: { ...BOUNDS, fields, fieldSize, fileSize: sizeLimit },
    })
  } catch (error) {
    if (error instanceof Error) return error
    throw error
  }
}

interface Reading {
  readonly terms: FormTerms
  readonly fields: Map<string, string[]>
  readonly streams: Readable[]
  readonly files: Promise<FormFile>[]
}

/** Until the form has ended, or why it did not. What is left of a refused body is read and thrown away. */
function feed(source: Readable, busboy: BusboyInstance, reading: Reading): Promise<Fault | null> {
  return new Promise(resolve => {
    let refused = false
    const refuse = (reason: Fault): void => {
      if (refused) return
      refused = true
      source.unpipe(busboy)
      passBy(source, () => resolve(reason))
    }
    listen(busboy, reading, refuse)
    busboy.on('error', (error: Error) => refuse(malformed(error)))
    busboy.on('finish', () => resolve(null))
    source.on('error', () => refuse(cutOff()))
    source.on('close', () => {
      if (!source.readableEnded) refuse(cutOff())
    })
    source.pipe(busboy)
  })
}

/** Milliseconds that the rest of a refused body may take to come in. */
const LINGER = 2_000

/**
 * Reads what is left and throws it away, then answers: a connection that is closed while its client still sends takes
 * the answer with it.
 */
function passBy(source: Readable, answer: () => void): void {
  if (source.readableEnded || source.destroyed) {
    answer()
    return
  }
  const patience = setTimeout(answer, LINGER)
  const over = () => {
    clearTimeout(patience)
    answer()
  }
  source.once('end', over)
  source.once('close', over)
  source.resume()
}

type Refuse = (reason: Fault) => void

function listen(busboy: BusboyInstance, reading: Reading, refuse: Refuse): void {
  busboy.on('file', (field, stream, filename) =>
    takeFile(stream, { field, filename, broken: refuse }, reading),
  )
  busboy.on('field', (name, value, nameCut, valueCut) => {
    if (nameCut || valueCut) refuse(tooMuch('A field of the form is too long'))
    reading.fields.set(name, [...(reading.fields.get(name) ?? []), value])
  })
  busboy.on('filesLimit', () => refuse(tooMuch(`A form may have at most ${BOUNDS.files} files`)))
  const { fields } = reading.terms.rules
  busboy.on('fieldsLimit', () => refuse(tooMuch(`A form may have at most ${fields} fields`)))
}

interface Part {
  readonly field: string
  readonly filename: string
  readonly broken: Refuse
}

function takeFile(stream: Readable, { field, filename, broken }: Part, reading: Reading): void {
  const { terms, fields, streams, files } = reading
  stream.on('error', () => broken(cutOff()))
  if (!filename || !terms.rules.takes(field, fields)) {
    stream.resume()
    return
  }
  streams.push(stream)
  stream.on('limit', () => broken(tooLarge(terms.sizeLimit)))
  const file = stage(stream, terms.folder).then(staged => ({ field, filename, staged }))
  // readForm tells it, once all have come to their end.
  file.catch(() => undefined)
  files.push(file)
}

const malformed = ({ message }: Error): Fault => fault('badRequest', `The form cannot be read: ${message}`)

const cutOff = (): Fault => fault('badRequest', 'The request ended before its body did')

const tooLarge = (limit: number): Fault => fault('payloadTooLarge', `A file may have at most ${limit} bytes`)

const tooMuch = (message: string): Fault => fault('payloadTooLarge', message)
