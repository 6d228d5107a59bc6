import { printJsonValue } from '../../base/text.ts'
import { attempt, fault, RequestFault } from '../../faults/fault.ts'
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

/**
 * Reads a form of the GraphQL multipart request specification, with files inserted where its map names them. Rejects with
 * a RequestFault for a malformed form.
 */
export async function readMultipart(request: HttpRequest, terms: MultipartTerms): Promise<Multipart> {
  const form = await terms.files.readForm(request, openRules(terms))
  const files: FormFile[] = [...form.files]
  try {
    return { operations: await fillOperations(form, files, terms), files }
  } catch (error) {
    await terms.files.discard({ files })
    throw error
  }
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
  try {
    return new Set(parseFileMap(text).keys())
  } catch (error) {
    // The whole form is refused after it has been read.
    if (error instanceof RequestFault) return new Set()
    throw error
  }
}

function fillOperations(form: MultipartForm, kept: FormFile[], terms: MultipartTerms): Promise<object> {
  const operations = parseField('operations', onlyField(form, 'operations'))
  const map = parseFileMap(onlyField(form, 'map'))
  if (terms.mayUpload) checkFiles(form, map)
  return fillAll(operations, map, { kept, terms })
}

function onlyField({ fields }: MultipartForm, name: string): string {
  const [text, ...more] = fields.get(name) ?? []
  if (text === undefined) throw malformed(`Missing multipart field ‘${name}’`)
  if (more.length > 0) throw malformed(`More than one multipart field ‘${name}’`)
  return text
}

function parseField(name: 'operations' | 'map', text: string): object {
  const parsed = attempt(() => parseJsonBody(text))
  if (!parsed.ok) throw malformed(`Invalid JSON in the ‘${name}’ multipart field`)
  return parsed.value
}

/** Each file that the map names must be sent once, after the map. */
function checkFiles({ files }: MultipartForm, map: FileMap): void {
  for (const field of map.keys()) {
    const count = files.filter(file => file.field === field).length
    if (count === 0) throw missingFile(field)
    if (count > 1) throw malformed(`More than one file ‘${shorten(field)}’`)
  }
}

const missingFile = (field: string): RequestFault =>
  new RequestFault(
    fault('badRequest', `File missing in the request: ‘${shorten(field)}’ has to follow ‘map’`),
  )

interface FillTerms {
  readonly kept: FormFile[]
  readonly terms: MultipartTerms
}

async function fillAll(operations: object, map: FileMap, { kept, terms }: FillTerms): Promise<object> {
  let filled: unknown = operations
  for (const [field, paths] of map) {
    const file = kept.find(each => each.field === field)
    for (const [index, path] of paths.entries()) {
      const own = file && index > 0 ? await terms.files.duplicate(file) : file
      if (own && own !== file) kept.push(own)
      filled = fillPlaceholder(filled, path, new UploadedFile(own ?? null))
      if (filled === undefined) throw invalidPath(path.join('.'))
    }
  }
  if (typeof filled !== 'object' || filled === null) throw invalidPath('')
  return filled
}

/** Paths into the operations by the name of a file's part, such as `variables`, `files`, `0`. */
type FileMap = ReadonlyMap<string, readonly (readonly string[])[]>

/** Maximum number of places, as many as a form may have files. */
const MAX_PLACES = 100

/** Parses the form's `map`, or throws a RequestFault. Paths may lead only into variables. */
function parseFileMap(text: string): FileMap {
  const given = parseField('map', text)
  if (!isRecord(given)) throw malformed('Invalid type for the ‘map’ multipart field')
  const map = new Map<string, readonly (readonly string[])[]>()
  let places = 0
  for (const [field, texts] of Object.entries(given)) {
    const paths = parsePaths(field, texts)
    map.set(field, paths)
    places += paths.length
  }
  if (places > MAX_PLACES)
    throw new RequestFault(fault('payloadTooLarge', `A request may have at most ${MAX_PLACES} files`))
  return map
}

function parsePaths(field: string, texts: unknown): readonly (readonly string[])[] {
  if (!Array.isArray(texts))
    throw malformed(`Invalid type for the ‘map’ multipart field entry key ‘${shorten(field)}’ array`)
  const wrong: unknown = texts.find(text => !isPath(text))
  if (wrong !== undefined) throw invalidPath(wrong)
  return texts.map(text => String(text).split('.'))
}

const isPath = (text: unknown): boolean =>
  typeof text === 'string' && PATH.test(text) && !text.split('.').some(step => RESERVED.has(step))

/** In a batch, a path begins with the operation's index. */
const PATH = /^(?:\d{1,6}\.)?variables(?:\.[^.]+)+$/

const RESERVED: ReadonlySet<string> = new Set(['__proto__', 'prototype', 'constructor'])

/** The fault of a path without a place for a file. */
const invalidPath = (path: unknown): RequestFault =>
  malformed(`Invalid object path for the ‘map’ multipart field: ‘${shorten(printJsonValue(path))}’`)

const shorten = (text: string): string => text.slice(0, 100)

const malformed = (message: string): RequestFault =>
  new RequestFault(
    fault('badRequest', `${message} (https://github.com/jaydenseric/graphql-multipart-request-spec).`),
  )

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
