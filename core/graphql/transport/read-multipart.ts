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
  /** Without the upload permission files are skipped unread, so that strangers cannot fill the disk (reference/safety.md#s16-uploads). */
  readonly mayUpload: boolean
}

/** The operations of a form and its files, which the caller must discard. */
export interface Multipart {
  readonly operations: object
  readonly files: readonly FormFile[]
}

/** Reads a form of the GraphQL multipart request specification, with files inserted where its map names them. */
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

/** Limits of the form: few fields in addition to `operations` and `map`; each as large as a JSON body's default limit. */
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

/** Each file that the map names must be sent once, after the map. */
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

/** Paths into the operations by the name of a file's part, such as `variables`, `files`, `0`. */
type FileMap = ReadonlyMap<string, readonly (readonly string[])[]>

/** Maximum number of places, as many as a form may have files. */
const MAX_PLACES = 100

/** Parses the form's `map`. Paths may lead only into variables. */
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

/** In a batch, a path begins with the operation's index. */
const PATH = /^(?:\d{1,6}\.)?variables(?:\.[^.]+)+$/

const RESERVED: ReadonlySet<string> = new Set(['__proto__', 'prototype', 'constructor'])

/** The fault of a path without a place for a file. */
const invalidPath = (path: unknown): Fault =>
  malformed(`Invalid object path for the ‘map’ multipart field: ‘${shorten(String(path))}’`)

const shorten = (text: string): string => text.slice(0, 100)

const malformed = (message: string): Fault =>
  fault('badRequest', `${message} (https://github.com/jaydenseric/graphql-multipart-request-spec).`)

/**
 * Inserts a file at a path whose value is null or missing. undefined: the path leads to no such place.
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
