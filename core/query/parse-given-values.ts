import { didYouMean } from '../base/nearest.ts'
import { failed, ok, type Result } from '../base/result.ts'
import { type Path, printPath } from '../faults/diagnostic.ts'
import { type Fault, fault, invalidBodyKey, RequestFault } from '../faults/fault.ts'
import type {
  Attribute,
  Component,
  ContentType,
  Holder,
  MediaAttribute,
  RelationAttribute,
} from '../model/model.ts'
import type { GivenValues, LinkChange, LinkConnection, LinkPosition, TargetRef } from './command.ts'
import { isRecord } from './parse-place.ts'
import { STATUSES } from './query.ts'

type BodyObject = Readonly<Record<string, unknown>>

export interface GivenValuesOptions {
  /** For code that may also set `writable: false` attributes, which no request may. */
  readonly sealed?: boolean
}

/**
 * Parses the `data` of a body to the values of a command. Fails with the first key, including keys of components, that
 * is not a writable attribute (reference/rest.md#2-errors, "bad key in a body").
 */
export function parseGivenValues(
  type: ContentType,
  data: BodyObject,
  { sealed = false }: GivenValuesOptions = {},
): GivenValues {
  if (!sealed) refuseTooManyEntries(type, data)
  const values: [string, unknown][] = []
  for (const [key, value] of Object.entries(data)) {
    if (IGNORED.has(key)) continue
    const wrong = findInDocument(type, key, value, sealed)
    if (wrong) throw new RequestFault(wrong)
    values.push([key, value])
  }
  return Object.fromEntries(values)
}

/**
 * Most entries of components and dynamic zones in one body, nested ones included. Each becomes rows: some 30 µs and 5 kB,
 * for three bytes (`{},`) of a body.
 */
const MOST_ENTRIES = 10_000

/** Refuses a body with more entries of components and dynamic zones than one write may have, before any of them is parsed. */
function refuseTooManyEntries(holder: Holder, body: BodyObject): void {
  const counted = countEntries(holder, body)
  if (counted <= MOST_ENTRIES) return
  const message = `A body may have at most ${MOST_ENTRIES} entries of components and dynamic zones; this one has ${counted}`
  throw new RequestFault(fault('validation', message))
}

function countEntries(holder: Holder, body: BodyObject): number {
  let counted = 0
  for (const [key, value] of Object.entries(body)) {
    const attribute = holder.attributes.get(key)
    if (attribute?.kind !== 'component' && attribute?.kind !== 'zone') continue
    for (const entry of Array.isArray(value) ? value : [value]) counted += 1 + countWithin(attribute, entry)
  }
  return counted
}

function countWithin(attribute: Extract<Attribute, { kind: 'component' | 'zone' }>, entry: unknown): number {
  if (!isRecord(entry)) return 0
  const component = componentOf(attribute, entry.__component)
  return component ? countEntries(component, entry) : 0
}

const componentOf = (
  attribute: Extract<Attribute, { kind: 'component' | 'zone' }>,
  name: unknown,
): Component | undefined =>
  attribute.kind === 'component' ? attribute.component : attribute.components.find(({ uid }) => uid === name)

/** Ignored silently, because clients send back the documents that they received. */
const IGNORED: ReadonlySet<string> = new Set(['publishedAt', 'locale'])
const IDS: ReadonlySet<string> = new Set(['id', 'documentId'])
/** Strapi's author attributes. Plinth does not have them, but faults report them as if it did. */
const AUTHORS: ReadonlySet<string> = new Set(['createdBy', 'updatedBy'])

function findInDocument(type: ContentType, key: string, value: unknown, sealed: boolean): Fault | null {
  if (IDS.has(key)) return invalidBodyKey(key)
  const attribute = type.attributes.get(key)
  if (!attribute) return invalidBodyKey(key, AUTHORS.has(key) ? key : null)
  if (attribute.system || !(attribute.writable || sealed)) return invalidBodyKey(key, key)
  return findBelow(attribute, value, { path: key, sealed })
}

interface Place {
  /** The dotted path to the attribute, including its name, without list indexes. */
  readonly path: string
  readonly sealed: boolean
}

function findBelow(attribute: Attribute, value: unknown, place: Place): Fault | null {
  switch (attribute.kind) {
    case 'relation':
    case 'media':
      return findInLinks(attribute, value, place.path)
    case 'component':
      return findInItems(value, item => findInComponent(attribute.component, item, place, COMPONENT_KEYS))
    case 'zone':
      return findInItems(value, item => {
        const component = componentOf(attribute, item.__component)
        return component ? findInComponent(component, item, place, ZONE_KEYS) : null
      })
    default:
      return null
  }
}

function findInLinks(
  attribute: Extract<Attribute, { kind: 'relation' | 'media' }>,
  value: unknown,
  path: string,
): Fault | null {
  const parsed = parseLinkChange(attribute, value, path.split('.'))
  const wrong = parsed.ok ? undefined : parsed.reasons.find(({ kind }) => kind === 'key')
  return wrong ? invalidBodyKey(String(wrong.path.at(-1)), path) : null
}

/** Values that are not objects are refused later, by validation. */
function findInItems(value: unknown, find: (item: BodyObject) => Fault | null): Fault | null {
  for (const item of Array.isArray(value) ? value : [value]) {
    const wrong = isRecord(item) ? find(item) : null
    if (wrong) return wrong
  }
  return null
}

const COMPONENT_KEYS: ReadonlySet<string> = new Set(['id'])
const ZONE_KEYS: ReadonlySet<string> = new Set(['id', '__component'])

function findInComponent(
  component: Component,
  item: BodyObject,
  { path, sealed }: Place,
  own: ReadonlySet<string>,
): Fault | null {
  for (const [key, value] of Object.entries(item)) {
    if (own.has(key)) continue
    const attribute = component.attributes.get(key)
    if (!attribute || attribute.system) return invalidBodyKey(key, path)
    const at = `${path}.${key}`
    if (!(attribute.writable || sealed)) return invalidBodyKey(key, at)
    const wrong = findBelow(attribute, value, { path: at, sealed })
    if (wrong) return wrong
  }
  return null
}

/**
 * Parses the value of a relation or media attribute (reference/rest.md#9-relations-in-bodies): a list, one id, null, or an object of
 * `connect`, `disconnect` and `set`. Returns null if it changes nothing. `path`: of the attribute.
 */
export function parseLinkChange(
  attribute: RelationAttribute | MediaAttribute,
  raw: unknown,
  path: Path,
): Result<LinkChange | null, LinkFault> {
  const links = { target: attribute.target, path }
  if (!isRecord(raw) || isEntry(raw)) return parseSet(links, raw)
  const unknown = Object.keys(raw).find(key => !OPERATIONS.has(key) && key !== OPTIONS)
  if (unknown !== undefined) return failed(unknownOperation(unknown, path))
  const { set, connect, disconnect } = raw
  const changes = connect !== undefined || disconnect !== undefined
  if (changes && set !== undefined) return failed(combined(path))
  if (changes && attribute.kind === 'media') return failed(onlySet(path))
  // Strapi does the same, although `connect: []` changes nothing.
  if (set !== undefined || connect === null) return parseSet(links, set ?? null)
  return parseChange(links, { connect: connect ?? [], disconnect: disconnect ?? [] })
}

type LinkObject = Readonly<Record<string, unknown>>

const OPERATIONS: ReadonlySet<string> = new Set(['connect', 'disconnect', 'set'])
/** Strapi's own clients send it. It has no effect. */
const OPTIONS = 'options'

/** `{ documentId }` or `{ id }`, with any other keys, such as fields of the document that the client received. */
const isEntry = (raw: LinkObject): boolean =>
  !Object.keys(raw).some(key => OPERATIONS.has(key)) &&
  (Object.hasOwn(raw, 'documentId') || Object.hasOwn(raw, 'id'))

/** An attribute in a body, as its entries need it. */
interface Links {
  readonly target: ContentType
  readonly path: Path
}

function parseSet(links: Links, raw: unknown): Result<LinkChange, LinkFault> {
  const targets = parseTargets(raw, links)
  return targets.ok ? ok({ kind: 'set', targets: targets.value }) : targets
}

function parseChange(
  links: Links,
  input: { readonly connect: unknown; readonly disconnect: unknown },
): Result<LinkChange | null, LinkFault> {
  const connect = parseConnections(input.connect, links)
  if (!connect.ok) return connect
  const disconnect: Result<readonly TargetRef[], LinkFault> = parseTargets(input.disconnect, links)
  if (!disconnect.ok) return disconnect
  if (connect.value.length === 0 && disconnect.value.length === 0) return ok(null)
  return ok({ kind: 'change', connect: connect.value, disconnect: disconnect.value })
}

const unknownOperation = (key: string, path: Path): LinkFault => ({
  kind: 'key',
  path: [...path, key],
  message: `Invalid key ${key} at ${path.filter(step => typeof step === 'string').join('.')}`,
})

/** reference/rest.md#9-relations-in-bodies. */
const combined = (path: Path): LinkFault =>
  invalidRelations(path, '`set` cannot be combined with `connect` or `disconnect`')

const onlySet = (path: Path): LinkFault =>
  invalidRelations(path, 'files are given as a whole, without `connect` and `disconnect`')

/** One entry or a list, in shorthand or longhand; null means none. */
const parseTargets = (raw: unknown, links: Links): Result<readonly TargetRef[], LinkFault> =>
  parseEntries(raw, entry => parseTarget(entry, links))

/** Like parseTargets, with positions in the list. */
const parseConnections = (raw: unknown, links: Links): Result<readonly LinkConnection[], LinkFault> =>
  parseEntries(raw, entry => {
    const parsed = parseTarget(entry, links)
    if (!parsed.ok) return parsed
    const position = parsePosition(isRecord(entry) ? entry.position : undefined, links)
    return position.ok ? ok({ ...parsed.value, position: position.value }) : position
  })

function parseEntries<Entry>(
  raw: unknown,
  parse: (entry: unknown) => Result<Entry, LinkFault>,
): Result<readonly Entry[], LinkFault> {
  const entries: Entry[] = []
  for (const entry of Array.isArray(raw) ? raw : [raw]) {
    if (entry === null) continue
    const parsed = parse(entry)
    if (!parsed.ok) return parsed
    entries.push(parsed.value)
  }
  return ok(entries)
}

/** Unknown keys of the longhand form are ignored, because clients send back the documents that they received. */
function parseTarget(entry: unknown, { target, path }: Links): Result<TargetRef, LinkFault> {
  if (!isRecord(entry)) {
    const by = toId(entry) ?? toDocumentId(entry)
    return by ? ok({ by, locale: null, status: null }) : failed(MISSING_ENTRY)
  }
  const by = toDocumentId(entry.documentId) ?? toId(entry.id)
  if (!by) return failed(MISSING_ENTRY)
  const locale = target.localized ? (entry.locale ?? null) : null
  if (locale !== null && !isWord(locale)) return failed(badWord('locale', 'the code of a locale', path))
  const input = target.draftAndPublish ? (entry.status ?? null) : null
  const status = STATUSES.find(word => word === input) ?? null
  if (status !== input) return failed(badWord('status', STATUSES.join(' or '), path))
  return ok({ by, locale, status })
}

const toDocumentId = (raw: unknown): TargetRef['by'] | null => (isWord(raw) ? { documentId: raw } : null)

/** PostgreSQL rejects NUL, and no document id contains it. */
const isWord = (raw: unknown): raw is string => typeof raw === 'string' && raw !== '' && !raw.includes('\0')

/** Numbers, and texts of digits only. */
function toId(raw: unknown): TargetRef['by'] | null {
  const id = readRowId(raw)
  return id === null ? null : { id }
}

/** The id of a row, as a number or in digits; null: it is none. */
export function readRowId(raw: unknown): number | null {
  const id = typeof raw === 'string' && /^\d+$/.test(raw) ? Number(raw) : raw
  return typeof id === 'number' && Number.isSafeInteger(id) ? id : null
}

const badWord = (key: string, expected: string, path: Path): LinkFault => ({
  kind: 'format',
  path: [],
  message: `Invalid value for ${key} of a relation at ${printPath(path)}: expected ${expected}`,
})

const END: LinkPosition = { at: 'end' }

const PLACES = ['before', 'after', 'start', 'end'] as const

/** Exactly one key; an entry without a position comes last (reference/rest.md#9-relations-in-bodies). */
function parsePosition(raw: unknown, { path }: Links): Result<LinkPosition, LinkFault> {
  const badPosition = (reason: string) => failed(invalidPosition(path, reason))
  if (raw === undefined || raw === null) return ok(END)
  if (!isRecord(raw)) return badPosition(`expected an object with ${ONE_PLACE}`)
  const keys = Object.keys(raw)
  const unknown = keys.find(key => !PLACES.some(place => place === key))
  if (unknown !== undefined)
    return badPosition(`unknown key \`${unknown}\`${didYouMean(unknown, PLACES)}; expected ${ONE_PLACE}`)
  const [at, second] = PLACES.filter(place => keys.includes(place))
  if (at === undefined) return badPosition(`no key; expected ${ONE_PLACE}`)
  if (second !== undefined) return badPosition(`${keys.join(' and ')}; expected ${ONE_PLACE}`)
  const value = raw[at]
  if (at === 'start' || at === 'end') return value === true ? ok({ at }) : badPosition(`\`${at}\` takes true`)
  const by = toNeighbour(value)
  return by ? ok({ at, by }) : badPosition(`\`${at}\` takes a documentId`)
}

/** In shorthand a documentId only, also one of digits; `{ id: 12 }` names a row, as requests of Strapi 4 do. */
function toNeighbour(raw: unknown): TargetRef['by'] | null {
  if (isRecord(raw)) return toDocumentId(raw.documentId) ?? toId(raw.id)
  return toDocumentId(typeof raw === 'number' ? String(raw) : raw)
}

const ONE_PLACE = 'exactly one of `before`, `after`, `start` and `end`'

const invalidPosition = (path: Path, reason: string): LinkFault => ({
  kind: 'format',
  path: [],
  message: `Invalid position of a relation at ${printPath(path)}: ${reason}`,
})

/**
 * Why the value of a relation or media attribute is refused. `key`: the path leads to an unknown key; `format`:
 * reported alone, before any other error; `rule`: reported in a list of errors.
 */
interface LinkFault {
  readonly kind: 'key' | 'format' | 'rule'
  readonly path: Path
  readonly message: string
}

/** reference/rest.md#9-relations-in-bodies: an entry that names no document. Strapi's message has no path. */
const MISSING_ENTRY: LinkFault = { kind: 'rule', path: [], message: 'Invalid relations' }

const invalidRelations = (path: Path, reason: string): LinkFault => ({
  kind: 'format',
  path,
  message: `Invalid relations at ${printPath(path)}: ${reason}`,
})
