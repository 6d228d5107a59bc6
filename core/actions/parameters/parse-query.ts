import { memoize } from '../../base/memo.ts'
import { printJsonValue } from '../../base/text.ts'
import { type Fault, fault, invalidKey, RequestFault } from '../../faults/fault.ts'
import type {
  Attribute,
  ComponentAttribute,
  ContentType,
  Holder,
  LinkAttribute,
  Model,
  ScalarAttribute,
  ValueType,
} from '../../model/model.ts'
import type { RestSettings } from '../../project/settings/settings.ts'
import { findTooManyJoins } from '../../query/join-limit.ts'
import { parseFilter } from '../../query/parse-filter.ts'
import { isRecord, targetHolder, unknownKey } from '../../query/parse-place.ts'
import { parseSort } from '../../query/parse-sort.ts'
import { isRelevance, parseTextSearch } from '../../query/parse-text-search.ts'
import {
  allShapes,
  type MixedAttribute,
  type PopulatedRows,
  populateAll,
  populateMixed,
  populateRows,
  populateWhole,
  selectionOf,
  wholeParts,
} from '../../query/populate-nodes.ts'
import type { Populate, Query, Search, ShapePart, Status, VersionChoice } from '../../query/query.ts'
import type { Params } from '../action-params.ts'
import { joinsTables, parseFields, withSortedFields } from './parse-fields.ts'
import { badCursor, type PaginationParams, pageOf, parseCursor, parsePagination } from './parse-pagination.ts'
import { parseLocales, parsePublication, parseStatusParam } from './parse-version.ts'
import { parsePopulateDeep } from './populate-deep.ts'
import {
  findExcessPopulate,
  isEmpty,
  parseBoolean,
  parsePopulateNames,
  toNameTree,
} from './populate-names.ts'

export interface QueryParseOptions {
  readonly model: Model
  readonly settings: RestSettings
}

/** The parts of a query that lists and single documents share. */
type Shared = Content & Versions & Pick<Query, 'kind' | 'type' | 'textSearch'>

/** Parses reference/rest.md. The first fault is reported in Strapi's order: filters, sort, fields, populate. */
export function parseSharedQuery(type: ContentType, parameters: Params, options: QueryParseOptions): Shared {
  if (parameters.lookup !== undefined) throw new RequestFault(fault('validation', "Invalid params: 'lookup'"))
  const textSearch = parseTextSearch(type, parameters)
  const sorted = textSearch && isRelevance(parameters.sort) ? { ...parameters, sort: undefined } : parameters
  const content = parseContent(type, sorted, options)
  const versions = parseVersions(type, parameters)
  const { filter, sort, selection } = content
  const { status, publication, search } = versions
  const query = { kind: 'query', type, status, selection, filter, search, publication, sort } as const
  return textSearch ? { ...query, textSearch } : query
}

type Content = Pick<Query, 'filter' | 'sort' | 'selection'>

function parseContent(
  type: ContentType,
  parameters: Params,
  { model, settings }: QueryParseOptions,
): Content {
  const filter = parameters.filters === undefined ? null : parseFilter(parameters.filters, type)
  const sort = parseSort(parameters.sort, type)
  const fields = parseFields(parameters.fields, type)
  const populate =
    parsePopulateDeep(parameters, type, settings) ??
    parsePopulate(parameters.populate, type, model.components)
  const excess = findExcessPopulate(populate)
  if (excess) throw new RequestFault(excess)
  const named = joinsTables(filter) ? withSortedFields(fields, sort) : fields
  const content = {
    filter,
    sort,
    selection: { ...named, populate },
  }
  const tooMany = findTooManyJoins(content)
  if (tooMany) throw new RequestFault(tooMany)
  return content
}

type Versions = Pick<Query, 'publication' | 'search'> & { readonly status: Status }

function parseVersions(type: ContentType, parameters: Params): Versions {
  const status = parseStatusParam(parameters.status)
  const publication = parsePublication(type, parameters)
  const search = parseSearch(type, parameters._q)
  return { status, publication, search }
}

/** What is read can also be the `latest` versions, in a project with the requests of Strapi 4. */
function parseReadQuery(
  type: ContentType,
  parameters: Params,
  options: QueryParseOptions,
): Omit<Shared, 'status'> & Pick<Query, 'status'> {
  const isLatest = parameters.status === LATEST && options.settings.responseFormat !== 'v5'
  if (!isLatest) return parseSharedQuery(type, parameters, options)
  const { status: _, ...others } = parameters
  return { ...parseSharedQuery(type, others, options), status: LATEST }
}

const LATEST = 'latest' satisfies VersionChoice

export interface ListQuery {
  readonly query: Query
  readonly pagination: PaginationParams
}

/** Parses the parameters of a list. */
export function parseListQuery(type: ContentType, parameters: Params, options: QueryParseOptions): ListQuery {
  const shared = parseReadQuery(type, parameters, options)
  const pagination = parsePagination(parameters, options.settings)
  const locale = parseLocales(type, parameters, { model: options.model, many: true })
  const { after: cursor, withCount } = pagination
  if (cursor !== undefined && shared.textSearch?.byRank)
    throw new RequestFault(badCursor('a list that is sorted by relevance has no cursors'))
  const after = cursor === undefined ? undefined : parseCursor(cursor, type, shared.sort)
  const begun = after === undefined ? {} : { after }
  const take = { kind: 'many', page: pageOf(pagination), total: withCount, ...begun } as const
  return { query: { ...shared, take, locale }, pagination }
}

/** Parses the parameters of one document; `documentId` is null for a single type. Pagination is ignored. */
export function parseOneQuery(
  type: ContentType,
  documentId: string | null,
  parameters: Params,
  options: QueryParseOptions,
): Query {
  const shared = parseReadQuery(type, parameters, options)
  const locale = parseLocales(type, parameters, { model: options.model, many: false })
  return { ...shared, take: { kind: 'one', documentId }, locale }
}

const SEARCHED: ReadonlySet<ValueType> = new Set<ValueType>([
  'documentId',
  'string',
  'text',
  'richtext',
  'enumeration',
  'email',
  'uid',
  'integer',
  'biginteger',
  'float',
  'decimal',
])

/** Parses `_q` (reference/rest.md#7-filters), which searches all text, number and uid attributes and the documentId. */
export function parseSearch(type: ContentType, raw: unknown): Search | null {
  if (raw === undefined || raw === '') return null
  if (typeof raw !== 'string' || raw.includes('\0'))
    throw new RequestFault(fault('validation', 'Invalid value for _q: expected a text', { key: '_q' }))
  return { text: raw, attributes: searchedAttributes(type) }
}

const searchedAttributes = memoize((type: ContentType): readonly ScalarAttribute[] => {
  const attributes = [...type.attributes.values()].filter(attribute => attribute.kind === 'scalar')
  return attributes.filter(attribute => SEARCHED.has(attribute.type))
})

type Components = Model['components']

/** Parses `populate` (reference/rest.md#8-populate): `*`, dotted names in a text or list, or an object of names with options. */
function parsePopulate(raw: unknown, holder: Holder, components: Components): readonly Populate[] {
  if (raw === undefined || raw === null || raw === '') return []
  if (raw === '*') return populateAll(holder)
  if (isRecord(raw)) return parseNames(raw, { holder, components })
  const words = toNameTree(raw)
  if (words) return parsePopulateNames(words, holder, { path: null, literal: true, depth: 0 })
  throw new RequestFault(
    fault(
      'validation',
      'Invalid populate parameter. Expected a string, an array of strings, a populate object',
    ),
  )
}

/** `populate[author][populate]=true` of Strapi's own front-ends populates nothing more. */
const parseInside: typeof parsePopulate = (raw, holder, components) =>
  parseBoolean(raw) === undefined ? parsePopulate(raw, holder, components) : []

interface Level {
  readonly holder: Holder
  readonly components: Components
}

function parseNames(raw: Readonly<Record<string, unknown>>, level: Level): readonly Populate[] {
  const populates: Populate[] = []
  for (const [name, value] of Object.entries(raw)) {
    if (isListIndex(name, level.holder)) continue
    const parsed = parseName(name, value, level)
    if (parsed) populates.push(parsed)
  }
  return populates
}

/** A list mixed with an object is parsed as an object with numeric keys; these are ignored. */
const isListIndex = (name: string, { attributes }: Holder): boolean =>
  !attributes.has(name) && (/^\d+$/.test(name) || parseBoolean(name) !== undefined)

/** `populate[component]=*` populates one level of the component. */
const WHOLE = { populate: '*' }

/** null: `false` excludes the attribute. */
function parseName(name: string, value: unknown, { holder, components }: Level): Populate | null {
  const attribute = holder.attributes.get(name)
  const whole = attribute && populateWhole(attribute, 'named')
  if (!attribute || !whole)
    throw new RequestFault(unknownKey({ holder, param: 'populate', path: null }, name))
  const wanted = value === null ? false : parseBoolean(value)
  if (wanted !== undefined) return wanted ? whole : null
  const options = value === '*' && attribute.kind === 'component' ? WHOLE : value
  if (isRecord(options))
    return parsePopulateOptions(options, { attribute, holder, components, parsePopulate: parseInside })
  throw new RequestFault(unexpectedText(attribute, value, holder))
}

/** A text is not an option; Strapi reports it as an unknown option name (reference/rest.md#8-populate). */
function unexpectedText(attribute: Attribute, value: unknown, holder: Holder): Fault {
  if (attribute.kind === 'zone' || attribute.kind === 'morph') return notOnZones(value, attribute, holder)
  const text: unknown = Array.isArray(value) ? value[0] : value
  const [name = ''] = typeof text === 'string' ? text.split('.') : []
  const known = targetHolder(attribute)?.attributes.has(name)
  return invalidKey(name, known ? `${attribute.name}.${name}` : attribute.name, 'populate')
}

type PopulateOptions = Readonly<Record<string, unknown>>

/** The attribute of `populate[attribute][…]` and its holder. */
interface PopulatePlace {
  readonly attribute: Attribute
  readonly holder: Holder
  readonly components: Components
  /** Parses nested populates. */
  readonly parsePopulate: (raw: unknown, holder: Holder, components: Components) => readonly Populate[]
}

const OPTIONS: ReadonlySet<string> = new Set(['fields', 'filters', 'sort', 'populate', 'count'])

/** Options of reference/rest.md#8-populate: `fields`, `filters`, `sort`, `populate`, `count`; for zones `on`, `populate=*`, `count`. */
function parsePopulateOptions(options: PopulateOptions, place: PopulatePlace): Populate {
  const { attribute } = place
  if (attribute.kind === 'zone' || attribute.kind === 'morph')
    return parseMixedOptions(options, { ...place, attribute })
  const behind = targetHolder(attribute)
  if (!behind || attribute.kind === 'scalar')
    throw new RequestFault(invalidKey(attribute.name, attribute.name, 'populate'))
  const wrong = findUnknownOption(options, attribute, { ...place, behind })
  if (wrong) throw new RequestFault(wrong)
  return populateRows(attribute, 'named', parseRows(options, behind, place))
}

function findUnknownOption(
  options: PopulateOptions,
  { name }: LinkAttribute | ComponentAttribute,
  { holder, behind }: PopulatePlace & { readonly behind: Holder },
): Fault | undefined {
  for (const key of Object.keys(options)) {
    if (OPTIONS.has(key) || parseBoolean(key) !== undefined) continue
    if (key === 'on')
      return fault('validation', `Using fragments is not permitted to populate "${name}" in "${holder.uid}"`)
    return invalidKey(key, behind.attributes.has(key) ? `${name}.${key}` : name, 'populate')
  }
  const { count } = options
  return isEmpty(count) || parseBoolean(count) !== undefined
    ? undefined
    : invalidKey('count', name, 'populate')
}

/** Strapi ignores `count` for files and other locales. */
const isCounted = ({ kind }: Attribute): boolean => kind !== 'media' && kind !== 'localizations'

/** Paths in faults are relative to this attribute (reference/rest.md#8-populate). */
function parseRows(
  options: PopulateOptions,
  behind: Holder,
  { attribute, components, parsePopulate }: PopulatePlace,
): PopulatedRows {
  const filter = isEmpty(options.filters) ? null : parseFilter(options.filters, behind, { param: 'populate' })
  const sort = parseSort(options.sort, behind, 'populate')
  const fields = parseFields(options.fields ?? undefined, behind, 'populate')
  const populate = parsePopulate(options.populate, behind, components)
  // Strapi reads other locales without a join (reference/rest.md#11-locales).
  const shown = attribute.kind === 'localizations' ? fields : withSortedFields(fields, sort)
  return {
    selection: { ...shown, populate },
    filter,
    sort,
    count: isCounted(attribute) && parseBoolean(options.count) === true,
  }
}

interface MixedPlace {
  readonly attribute: MixedAttribute
  readonly holder: Holder
  readonly components: Model['components']
  readonly parsePopulate: (
    raw: unknown,
    holder: Holder,
    components: Model['components'],
  ) => readonly Populate[]
}

/** reference/rest.md#8-populate: `on` selects shapes; `populate=*` populates one level of all; `count` has no effect on zones. */
function parseMixedOptions(options: PopulateOptions, place: MixedPlace): Populate {
  const { attribute } = place
  const { on, populate } = options
  const wrong = findWrongOption(options, place)
  if (wrong) throw new RequestFault(wrong)
  const isWhole = on === undefined || on === null
  const parts = isWhole
    ? wholeParts(attribute, populate === '*' ? populateAll : undefined)
    : parseFragments(on, place)
  const mixed = populateMixed(attribute, 'named', parts)
  return mixed.kind === 'morph' ? { ...mixed, count: parseBoolean(options.count) === true } : mixed
}

function findWrongOption(options: PopulateOptions, { attribute, holder }: MixedPlace): Fault | undefined {
  const { name } = attribute
  for (const [key, value] of Object.entries(options)) {
    if (key === 'on' || parseBoolean(key) !== undefined) continue
    if (key === 'count' && parseBoolean(value) !== undefined) continue
    if (key === 'populate' && (value === '*' || value === null)) continue
    return ROW_OPTIONS.has(key) ? notOnZones(options, attribute, holder) : invalidKey(key, name, 'populate')
  }
  return undefined
}

const ROW_OPTIONS: ReadonlySet<string> = new Set(['fields', 'filters', 'sort'])

const notOnZones = (options: unknown, { name }: Attribute, holder: Holder): Fault =>
  fault(
    'validation',
    `Invalid nested populate for ${holder.key}.${name} (${holder.uid}). Expected a fragment ("on") or "count" but found ${JSON.stringify(options)}`,
  )

/** A shape that the attribute cannot have never occurs, so its fragment is dropped. */
function parseFragments(on: unknown, place: MixedPlace): readonly ShapePart[] {
  const path = `${place.attribute.name}.on`
  if (on === '') return []
  if (!isRecord(on)) throw new RequestFault(invalidKey('on', path, 'populate'))
  const parts: ShapePart[] = []
  for (const [uid, options] of Object.entries(on)) {
    const holder = shapeNamed(uid, place)
    if (!holder) throw new RequestFault(invalidKey(uid, `${path}.${uid}`, 'populate'))
    const part = parseFragment(options, holder, place)
    if (allShapes(place.attribute).includes(holder)) parts.push(part)
  }
  return parts
}

/** `related` of files has documents, too. */
const shapeNamed = (uid: string, { attribute, components }: MixedPlace): Holder | undefined =>
  components.get(uid) ??
  (attribute.kind === 'morph' ? attribute.types.find(type => type.uid === uid) : undefined)

/** A fragment's options (reference/rest.md#8-populate), with `filters` as in Strapi. `false` selects the component, too. */
function parseFragment(
  options: unknown,
  holder: Holder,
  { attribute, components, parsePopulate }: MixedPlace,
): ShapePart {
  if (parseBoolean(options) !== undefined) return { holder, selection: selectionOf(holder) }
  if (!isRecord(options))
    throw new RequestFault(invalidKey(printJsonValue(options), attribute.name, 'populate'))
  for (const key of Object.keys(options)) {
    if (!FRAGMENT_OPTIONS.has(key))
      throw new RequestFault(invalidKey(key, `${attribute.name}.on.${holder.uid}`, 'populate'))
  }
  const filter = isEmpty(options.filters) ? null : parseFilter(options.filters, holder, { param: 'populate' })
  const fields = parseFields(options.fields, holder, 'populate')
  const populate = parsePopulate(options.populate, holder, components)
  const selection = { ...fields, populate }
  return { holder, selection, ...(filter && { filter }) }
}

/** No `sort`: entries of different shapes share one order. */
const FRAGMENT_OPTIONS: ReadonlySet<string> = new Set(['fields', 'filters', 'populate'])
