import { failed, ok, type Result } from '../../base/result.ts'
import { type Fault, fault } from '../../faults/fault.ts'
import type { HttpRequest } from '../../faults/http-exchange.ts'
import type { Files } from '../../media/files.ts'
import type { FormFile, FormRules, MultipartForm } from '../../media/read-form.ts'
import { parseJson } from '../../query/parse-json.ts'
import { SentFile } from '../sdl/sent-file.ts'
import { type FileMap, malformed, noPath, parseFileMap } from './parse-file-map.ts'
import { fillPlace } from './upload-placeholder.ts'

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
      names ??= namesIn(text)
      return names.has(field)
    },
  }
}

function namesIn(text: string): ReadonlySet<string> {
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
  const operations = parseJson(sent.value)
  if (!operations.ok) return failed(malformed('Invalid JSON in the ‘operations’ multipart field'))
  const text = onlyField(form, 'map')
  if (!text.ok) return text
  const map = parseFileMap(text.value)
  if (!map.ok) return map
  const absent = terms.mayUpload ? whyAbsent(form, map.value) : null
  return absent ? failed(absent) : fillAll(operations.value, map.value, { kept, terms })
}

function onlyField({ fields }: MultipartForm, name: string): Result<string, Fault> {
  const [text, ...more] = fields.get(name) ?? []
  if (text === undefined) return failed(malformed(`Missing multipart field ‘${name}’`))
  return more.length > 0 ? failed(malformed(`More than one multipart field ‘${name}’`)) : ok(text)
}

/** Each file that the map names has to come once, behind it. */
function whyAbsent({ files }: MultipartForm, map: FileMap): Fault | null {
  for (const field of map.keys()) {
    const count = files.filter(file => file.field === field).length
    if (count === 0)
      return fault('badRequest', `File missing in the request: ‘${field.slice(0, 100)}’ has to follow ‘map’`)
    if (count > 1) return malformed(`More than one file ‘${field.slice(0, 100)}’`)
  }
  return null
}

interface Filling {
  readonly kept: FormFile[]
  readonly terms: MultipartTerms
}

async function fillAll(
  operations: object,
  map: FileMap,
  { kept, terms }: Filling,
): Promise<Result<object, Fault>> {
  let filled: unknown = operations
  for (const [field, paths] of map) {
    const file = kept.find(each => each.field === field)
    for (const [index, path] of paths.entries()) {
      const own = file && index > 0 ? await terms.files.duplicate(file) : file
      if (own && own !== file) kept.push(own)
      filled = fillPlace(filled, path, new SentFile(own ?? null))
      if (filled === undefined) return failed(noPath(path.join('.')))
    }
  }
  return typeof filled === 'object' && filled !== null ? ok(filled) : failed(noPath(''))
}
