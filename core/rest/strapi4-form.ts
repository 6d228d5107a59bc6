import { trusted } from '../access/brand.ts'
import { actorOf, type Caller, mayContain } from '../access/caller.ts'
import { denied } from '../access/denial.ts'
import { parseListQuery } from '../actions/parameters/parse-query.ts'
import { hintFor } from '../base/nearest.ts'
import { isRecord } from '../base/plain-data.ts'
import { fault, RequestFault } from '../faults/fault.ts'
import type { HttpRequest, HttpResponse } from '../faults/http-exchange.ts'
import { emptyFiles } from '../media/file-transaction.ts'
import type { Files, MediaUpload } from '../media/files.ts'
import { type FormFile, isForm, type MultipartForm } from '../media/read-form.ts'
import {
  type Component,
  type ComponentAttribute,
  type ContentType,
  componentsOf,
  type Holder,
  type MediaAttribute,
  type ZoneAttribute,
} from '../model/model.ts'
import { parseJsonBody } from '../query/parse-json.ts'
import { readData, requestParams } from './parse-query-string.ts'
import type { RestCall, RestOptions } from './rest-call.ts'
import { changeRequest, fromStrapi4 } from './strapi4.ts'

// Creates and updates of Strapi 4 as `multipart/form-data`: the field `data` has the values as JSON, and fields such as
// `files.cover` and `files.seo.image` have the files.

/** True for a create or update whose body is a form. */
export const isFormSave = (request: HttpRequest): boolean =>
  (request.method === 'POST' || request.method === 'PUT') && isForm(request)

type Perform = (call: RestCall) => Promise<HttpResponse>

/** Uploads the files and saves the document in one transaction: if one fails, nothing is left of the other. */
export async function saveForm(
  call: RestCall,
  options: RestOptions,
  perform: Perform,
): Promise<HttpResponse> {
  const { files } = options
  if (!files) throw new TypeError('forms need the service of files')
  const form = await readSaveForm(call, files, options)
  try {
    const data = parseDataField(form)
    const body = call.route.kind === 'localization' ? data : { data }
    const saved = await fromStrapi4(withData(call, body), options)
    return form.files.length === 0
      ? await perform(saved)
      : await saveWithFiles(form, saved, { ...options, files, perform })
  } finally {
    await files.discard(form)
  }
}

const MEBIBYTE = 1_048_576

/** Reads the form. A caller who may not upload is refused, without staging a file. */
async function readSaveForm(
  { request, caller }: RestCall,
  files: Files,
  { bodyLimit = MEBIBYTE }: RestOptions,
): Promise<MultipartForm> {
  const isUploader = caller.grants.allows('upload', 'upload')
  let isRefused = false
  const form = await files.readForm(request, {
    fields: 20,
    fieldBytes: bodyLimit,
    accepts() {
      isRefused ||= !isUploader
      return isUploader
    },
  })
  if (isRefused) throw denied(caller, 'upload', 'upload')
  return form
}

function parseDataField({ fields }: MultipartForm): object {
  const text = fields.get('data')?.at(-1)
  if (text === undefined || text === '') throw invalid('data', 'a field with the JSON text of the values')
  const data = parseJsonBody(text)
  if (Array.isArray(data)) throw invalid('data', 'a JSON object')
  return data
}

const invalid = (key: string, expected: string): RequestFault =>
  new RequestFault(fault('validation', `Invalid ${key} of the form: expected ${expected}`, { key, expected }))

const withData = (call: RestCall, body: object): RestCall => ({
  ...call,
  request: changeRequest(call.request, requestParams(call.request), Buffer.from(JSON.stringify(body))),
})

interface SaveOptions extends RestOptions {
  readonly files: Files
  readonly perform: Perform
}

async function saveWithFiles(
  form: MultipartForm,
  call: RestCall,
  options: SaveOptions,
): Promise<HttpResponse> {
  // The parsed object belongs to this request alone, so the files can be added to it.
  const data = await readData(call.request)
  if (form.files.some(({ staged }) => staged.size === 0)) throw emptyFiles()
  const targets = form.files.map(file => findTarget(file, data, call))
  refuseSeveralFiles(targets)
  const uploads = targets.map(({ file, attribute }): MediaUpload => ({ file, attribute, info: {} }))
  const { type, documentId } = call.route
  const changed = isStorable(call) && targets.some(isKept) ? { type, documentId } : null
  const given = targets.map(({ values, attribute }) => values[attribute.name])
  // Document middlewares may have acted outside the transaction, so they run once.
  const isRepeatable = !options.runMiddlewares
  return options.files.createFor(uploads, { by: actorOf(call.caller), changed, isRepeatable }, async ids => {
    for (const [index, { values, attribute }] of targets.entries()) values[attribute.name] = given[index]
    await keepFiles(targets, { call, options })
    for (const [index, { values, attribute }] of targets.entries())
      values[attribute.name] = withFile(values[attribute.name], ids[index], attribute)
    return options.perform(withData(call, { data }))
  })
}

type Values = Record<string, unknown>

/** The media attribute that a file is for, and the object of the body that contains the attribute. */
interface FileTarget {
  readonly file: FormFile
  readonly attribute: MediaAttribute
  readonly values: Values
  /** The components around the attribute, outermost first. */
  readonly way: readonly Step[]
}

/** A component of the body. */
interface Step {
  readonly attribute: ComponentAttribute | ZoneAttribute
  readonly component: Component
  readonly values: Values
}

/** Resolves the name of a form field: `files.cover`, `files.seo.image`, `files.links.0.icon`, `files.blocks[1].picture`. */
function findTarget(file: FormFile, data: object, { route: { type }, caller }: RestCall): FileTarget {
  const [first, ...names] = file.field.split(/[.[\]]+/).filter(Boolean)
  if (first !== 'files' || names.length === 0)
    throw invalid(file.field, 'files and the name of a media attribute, such as files.cover')
  // Front-ends number the files of a list: `files.gallery.0`.
  if (names.length > 1 && INDEX.test(names.at(-1) ?? '')) names.pop()
  const name = names.pop() ?? ''
  const way: Step[] = []
  let level: Level = { holder: type, values: data as Values, isWritable: writableBy(caller, type) }
  while (names.length > 0) {
    const step = enterComponent(file, names, level)
    way.push(step)
    const isWritable = level.isWritable(step.attribute.name)
    level = { holder: step.component, values: step.values, isWritable: () => isWritable }
  }
  const attribute = level.holder.attributes.get(name)
  if (attribute?.kind !== 'media') throw noMedia(file, name, level)
  return { file, attribute, values: level.values, way }
}

const INDEX = /^\d+$/

/** A content-type or component, and its object in the body. */
interface Level {
  readonly holder: Holder
  readonly values: Values
  /** True if the caller may write an attribute. */
  readonly isWritable: (name: string) => boolean
}

const writableBy =
  ({ grants }: Caller, type: ContentType) =>
  (name: string): boolean =>
    (['create', 'update'] as const).some(action => {
      const access = grants.writeAccess(type, action)
      return access !== null && mayContain(access, name)
    })

/** Removes the name of a component, and the index of its entry in a list, from `names`. */
function enterComponent(file: FormFile, names: string[], level: Level): Step {
  const { holder, values } = level
  const name = names.shift() ?? ''
  const attribute = holder.attributes.get(name)
  if (attribute?.kind !== 'component' && attribute?.kind !== 'zone') throw noMedia(file, name, level)
  const value = values[name]
  const index = Array.isArray(value) ? (names.shift() ?? '') : undefined
  if (index !== undefined && !INDEX.test(index))
    throw invalid(file.field, `the number of an entry after ${name}, such as ${name}.0`)
  const entry: unknown = Array.isArray(value) ? value[Number(index)] : value
  const component =
    attribute.kind === 'component'
      ? attribute.component
      : attribute.components.find(({ uid }) => isRecord(entry) && entry.__component === uid)
  const place = index === undefined ? name : `${name}.${index}`
  if (!isRecord(entry) || !component) throw invalid(file.field, `data to have a component at ${place}`)
  return { attribute, component, values: entry }
}

/** The fault proposes only names of attributes that the caller may write. */
function noMedia({ field }: FormFile, name: string, { holder, isWritable }: Level): RequestFault {
  const own = isWritable(name) ? holder.attributes.get(name) : undefined
  const [first] = (own ? componentsOf(own) : []).flatMap(each => mediaNames(each))
  if (first !== undefined)
    return invalid(field, `the name of a media attribute after ${name}, such as ${first}`)
  const known = mediaNames(holder).filter(isWritable)
  return invalid(field, `a media attribute of ${holder.uid}${known.length > 0 ? hintFor(name, known) : ''}`)
}

/** Attributes that are media, or have media inside. */
const mediaNames = ({ attributes }: Holder): readonly string[] =>
  [...attributes.values()].filter(({ kind }) => KINDS_WITH_MEDIA.has(kind)).map(({ name }) => name)

const KINDS_WITH_MEDIA: ReadonlySet<string> = new Set(['media', 'component', 'zone'])

/** Refuses more than one file for an attribute that is not a list. */
function refuseSeveralFiles(targets: readonly FileTarget[]): void {
  const taken = new Map<Values, Set<string>>()
  for (const { file, attribute, values } of targets) {
    const names = taken.get(values) ?? new Set()
    if (!attribute.many && names.has(attribute.name)) throw invalid(file.field, 'one file')
    taken.set(values, names.add(attribute.name))
  }
}

interface KeepOptions {
  readonly call: RestCall
  readonly options: SaveOptions
}

/** True for an update of a document that may exist: PostgreSQL cannot store an id with the character NUL. */
const isStorable = ({ request, route }: Pick<RestCall, 'request' | 'route'>): boolean =>
  request.method === 'PUT' && !route.documentId?.includes('\0')

/** On an update, a list that the body does not contain keeps its files, as in Strapi 4: adds them to the body. */
async function keepFiles(
  targets: readonly FileTarget[],
  { call: { request, route }, options }: KeepOptions,
): Promise<void> {
  const lists = targets.filter(isKept)
  if (!isStorable({ request, route }) || lists.length === 0) return
  const { type, documentId } = route
  const { query } = parseListQuery(
    type,
    {
      fields: ['documentId'],
      populate: populateLists(lists),
      ...(documentId !== null && { filters: { documentId } }),
      ...(type.draftAndPublish && { status: 'draft' }),
      locale: requestParams(request).locale,
    },
    options,
  )
  const [stored] = JSON.parse(
    (await options.documents.findMany(trusted(query), 'flat')).text,
  ) as readonly Values[]
  for (const { attribute, values, way } of lists)
    values[attribute.name] ??= storedValues(stored, way)?.[attribute.name] ?? []
}

/** A component without an id is new, so its lists are empty. */
const isKept = ({ attribute, values, way }: FileTarget): boolean =>
  attribute.many &&
  values[attribute.name] === undefined &&
  way.every(step => step.values.id !== undefined && step.values.id !== null)

/** `populate` of lists of files within their components. */
function populateLists(lists: readonly FileTarget[]): Values {
  const root: Values = {}
  for (const { attribute, way } of lists) {
    let level = root
    for (const { attribute: outer, component } of way) {
      const populated = childOf(level, outer.name)
      level = childOf(
        outer.kind === 'zone' ? childOf(childOf(populated, 'on'), component.uid) : populated,
        'populate',
      )
    }
    level[attribute.name] = { fields: ['documentId'] }
  }
  return root
}

function childOf(parent: Values, name: string): Values {
  const child = isRecord(parent[name]) ? (parent[name] as Values) : {}
  parent[name] = child
  return child
}

/** The stored component that the innermost of the body's components changes. */
function storedValues(stored: Values | undefined, way: readonly Step[]): Values | undefined {
  let level = stored
  for (const { attribute, component, values } of way) {
    const entries = [level?.[attribute.name]].flat().filter(isRecord)
    level = entries.find(
      ({ id, __component: uid = component.uid }) => String(id) === String(values.id) && uid === component.uid,
    )
  }
  return level
}

/** The value of a media attribute with one more file. */
function withFile(value: unknown, documentId: string | undefined, { many }: MediaAttribute): unknown {
  if (!many) return documentId
  const input: unknown = isRecord(value) && Object.hasOwn(value, 'set') ? value.set : value
  const current: readonly unknown[] = Array.isArray(input) ? input : [input]
  return [...current.filter(each => each !== undefined && each !== null), documentId]
}
