import { failed, ok, type Result } from '../../base/result.ts'
import { type Fault, fault } from '../../faults/fault.ts'
import type { HttpRequest } from '../../faults/http-exchange.ts'
import type { Files } from '../../media/files.ts'
import type { FormFile, FormRules, MultipartForm } from '../../media/read-form.ts'
import { parseJsonBody } from '../../query/parse-json.ts'
import { isRecord } from '../../query/parse-place.ts'
import { UploadedFile } from '../sdl/uploaded-file.ts'

export interface MultipartTerms {
  readonly files: Files
  /** Files of who may not upload are passed over unread: nobody unknown fills the disk (safety S16). */
  readonly mayUpload: boolean
}

/** The operations of a form, and its files: whoever has them discards them. */
export interface Multipart {
  readonly operations: object
  readonly files: readonly FormFile[]
}

/** A form of the GraphQL multipart request specification → its operations, with files where its map names them. */
export async function readMultipart(
  request: HttpRequest,
  terms: MultipartTerms,
): Promise<Result<Multipart, Fault>> {
  const form = await terms.files.readForm(request, openRules(terms))
  if (!form.ok) return form
  const kept: FormFile[] = [...form.value.files]
  const operations = await fillOperations(form.value, kept, terms)
  if (operations.ok) return ok({ operations: operations.value, files: kept })
  await terms.files.discard({ files: kept })
  return operations
}

/** Beside `operations` and `map` a form has few fields. Operations have as much room as JSON bodies by default. */
function openRules({ mayUpload }: MultipartTerms): FormRules {
  let names: ReadonlySet<string> | null = null
  return {
    fields: 5,
    fieldSize: 1_048_576,
    accepts(field, before) {
      const [text] = before.get('map') ?? []
      if (!mayUpload || text === undefined) return false
      names ??= mappedFields(text)
      return names.has(field)
    },
  }
}

function mappedFields(text: string): ReadonlySet<string> {
  const map = parseFileMap(text)
  return new Set(map.ok ? map.value.keys() : [])
}

async function fillOperations(
  form: MultipartForm,
  kept: FormFile[],
  terms: MultipartTerms,
): Promise<Result<object, Fault>> {
  const sent = onlyField(form, 'operations')
  if (!sent.ok) return sent
  const operations = parseJsonBody(sent.value)
  if (!operations.ok) return failed(malformed('Invalid JSON in the ‘operations’ multipart field'))
  const text = onlyField(form, 'map')
  if (!text.ok) return text
  const map = parseFileMap(text.value)
  if (!map.ok) return map
  const absent = terms.mayUpload ? findFileFault(form, map.value) : null
  return absent ? failed(absent) : fillAll(operations.value, map.value, { kept, terms })
}

function onlyField({ fields }: MultipartForm, name: string): Result<string, Fault> {
  const [text, ...more] = fields.get(name) ?? []
  if (text === undefined) return failed(malformed(`Missing multipart field ‘${name}’`))
  return more.length > 0 ? failed(malformed(`More than one multipart field ‘${name}’`)) : ok(text)
}

/** Each file that the map names has to come once, behind it. */
function findFileFault({ files }: MultipartForm, map: FileMap): Fault | null {
  for (const field of map.keys()) {
    const count = files.filter(file => file.field === field).length
    if (count === 0)
      return fault('badRequest', `File missing in the request: ‘${field.slice(0, 100)}’ has to follow ‘map’`)
    if (count > 1) return malformed(`More than one file ‘${field.slice(0, 100)}’`)
  }
  return null
}

interface FillTerms {
  readonly kept: FormFile[]
  readonly terms: MultipartTerms
}

async function fillAll(
  operations: object,
  map: FileMap,
  { kept, terms }: FillTerms,
): Promise<Result<object, Fault>> {
  let filled: unknown = operations
  for (const [field, paths] of map) {
    const file = kept.find(each => each.field === field)
    for (const [index, path] of paths.entries()) {
      const own = file && index > 0 ? await terms.files.duplicate(file) : file
      if (own && own !== file) kept.push(own)
      filled = fillPlaceholder(filled, path, new UploadedFile(own ?? null))
      if (filled === undefined) return failed(invalidPath(path.join('.')))
    }
  }
  return typeof filled === 'object' && filled !== null ? ok(filled) : failed(invalidPath(''))
}

/** Where files go: by the name of a file's part, paths into the operations such as `variables`, `files`, `0`. */
type FileMap = ReadonlyMap<string, readonly (readonly string[])[]>

/** As many as a form may have files: each place becomes one. */
const MAX_PLACES = 100

/** `map` of the GraphQL multipart request specification: paths lead into variables, and nowhere else. */
function parseFileMap(text: string): Result<FileMap, Fault> {
  const given = parseJsonBody(text)
  if (!given.ok) return failed(malformed('Invalid JSON in the ‘map’ multipart field'))
  if (!isRecord(given.value)) return failed(malformed('Invalid type for the ‘map’ multipart field'))
  const map = new Map<string, readonly (readonly string[])[]>()
  let places = 0
  for (const [field, texts] of Object.entries(given.value)) {
    const paths = parsePaths(field, texts)
    if (!paths.ok) return paths
    map.set(field, paths.value)
    places += paths.value.length
  }
  if (places > MAX_PLACES)
    return failed(fault('payloadTooLarge', `A request may have at most ${MAX_PLACES} files`))
  return ok(map)
}

function parsePaths(field: string, texts: unknown): Result<readonly (readonly string[])[], Fault> {
  if (!Array.isArray(texts))
    return failed(malformed(`Invalid type for the ‘map’ multipart field entry key ‘${shorten(field)}’ array`))
  const wrong: unknown = texts.find(text => !isPath(text))
  if (wrong !== undefined) return failed(invalidPath(wrong))
  return ok(texts.map(text => String(text).split('.')))
}

const isPath = (text: unknown): boolean =>
  typeof text === 'string' && PATH.test(text) && !text.split('.').some(step => RESERVED.has(step))

/** Of a batch, an operation's number comes first. */
const PATH = /^(?:\d{1,6}\.)?variables(?:\.[^.]+)+$/

const RESERVED: ReadonlySet<string> = new Set(['__proto__', 'prototype', 'constructor'])

/** A path that leads to no place for a file. */
const invalidPath = (path: unknown): Fault =>
  malformed(`Invalid object path for the ‘map’ multipart field: ‘${shorten(String(path))}’`)

const shorten = (text: string): string => text.slice(0, 100)

const malformed = (message: string): Fault =>
  fault('badRequest', `${message} (https://github.com/jaydenseric/graphql-multipart-request-spec).`)

/**
 * The operations with a file in a place that was kept free for it: null, or left out of an object. undefined: the
 * path leads to no such place.
 */
function fillPlaceholder(given: unknown, [step, ...rest]: readonly string[], file: UploadedFile): unknown {
  if (step === undefined) return given === null || given === undefined ? file : undefined
  if (Array.isArray(given)) {
    const index = /^\d+$/.test(step) ? Number(step) : given.length
    const filled = index < given.length ? fillPlaceholder(given[index], rest, file) : undefined
    return filled === undefined ? undefined : given.with(index, filled)
  }
  if (!isRecord(given) || given instanceof UploadedFile) return undefined
  const filled = fillPlaceholder(Object.hasOwn(given, step) ? given[step] : undefined, rest, file)
  return filled === undefined ? undefined : { ...given, [step]: filled }
}
