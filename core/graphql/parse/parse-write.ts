import { printJsonValue } from '../../base/text.ts'
import { fault, RequestFault } from '../../faults/fault.ts'
import type { Attribute, Component, ContentType, Holder, Model } from '../../model/model.ts'
import type { CreateCommand, GivenValues, UpdateCommand } from '../../query/command.ts'
import { parseGivenValues } from '../../query/parse-given-values.ts'
import { parseDateTime } from '../../query/parse-moment.ts'
import { isRecord } from '../../query/parse-place.ts'
import type { Query, Status, VersionChoice } from '../../query/query.ts'
import { toJsonText } from '../sdl/to-dollar-filter.ts'
import type { OperationContext } from './operation-context.ts'
import { checkJoinLimit, type RootSelection } from './parse-read.ts'
import { parseDocumentSelection } from './parse-selection.ts'

/** The version and locale that a mutation answers. */
export interface WriteAnswerOptions {
  readonly status: VersionChoice
  readonly locale: string | null
}

/** Parses the query for a mutation's answer. */
export function parseWriteAnswer(
  { root: { type, use }, nodes }: Pick<RootSelection, 'root' | 'nodes'>,
  { status, locale }: WriteAnswerOptions,
  context: OperationContext,
): Query {
  return checkJoinLimit({
    kind: 'query',
    type,
    // The document service fills in the id of the written document.
    take: { kind: 'one', documentId: null },
    status,
    locale: locale === null ? { kind: 'all' } : { kind: 'these', codes: [locale] },
    selection: parseDocumentSelection(type, { nodes, use }, { ...context, status }),
    filter: null,
    search: null,
    publication: null,
    sort: [],
  })
}

/** Parses a locale of the project; defaults to the default locale; null for types without locales. Throws a RequestFault. */
export function parseWriteLocale(
  { localized }: ContentType,
  raw: unknown,
  { locales, defaultLocale }: Model,
): string | null {
  if (!localized) return null
  if (raw === undefined || raw === null) return defaultLocale
  const codes = locales.map(({ code }) => code)
  const known = codes.find(code => code === raw)
  if (known !== undefined) return known
  const message = `Unknown locale ${printJsonValue(raw)}: the locales are ${codes.join(', ')}`
  throw new RequestFault(fault('validation', message, { key: 'locale', expected: codes }))
}

/** The content-type and locale of a write. */
export interface WriteLocation {
  readonly type: ContentType
  readonly locale: string | null
}

/** Parses the `data` of a mutation. Throws a RequestFault for the first key that may not be set. */
export function parseWriteInput(
  type: ContentType,
  raw: unknown,
): WriteInput & { readonly values: GivenValues } {
  const input = readInput(type, raw)
  const values = parseGivenValues(type, input.data)
  return { ...input, publishedAt: parsePublishedAt(input.publishedAt), values }
}

/** Accepts the years that both PostgreSQL and ISO's four digits can represent. */
function parsePublishedAt(raw: WriteInput['publishedAt']): WriteInput['publishedAt'] {
  if (typeof raw !== 'string') return raw
  const parsed = parseDateTime(raw)
  if (parsed.ok) return parsed.value
  throw new RequestFault(fault('validation', String(parsed.reasons[0]?.message)))
}

type Input = Pick<WriteInput, 'publishedAt'> & { readonly values: GivenValues }

/** Parses the `data` of a mutation of the flat format, in which `publishedAt` and `locale` have no effect. */
export function parseFlatInput(type: ContentType, raw: unknown): GivenValues {
  const { publishedAt: _published, ...data } = isRecord(raw) ? raw : {}
  const { locale: _locale, ...unlocalized } = data
  return parseGivenValues(type, toData(type, type.attributes.has('locale') ? data : unlocalized))
}

/** The create or update of the flat format: `status` says whether the draft is published. */
export const toFlatSave = (
  { type, locale }: WriteLocation,
  values: GivenValues,
  status: Status,
): Omit<CreateCommand, 'kind'> => ({
  type,
  locale,
  values,
  strict: 'published',
  status: type.draftAndPublish ? status : 'published',
})

/** Creates a draft unless the input has `publishedAt` (reference/graphql.md#6-writing). */
export const toCreate = ({ type, locale }: WriteLocation, input: Input): CreateCommand => ({
  kind: 'create',
  type,
  locale,
  ...stateOf(type, input),
})

/** Adds a locale to a document, with the same status rules as a new document. */
export const toLocalize = (place: WriteLocation, documentId: string | null, input: Input): UpdateCommand => ({
  ...place,
  ...stateOf(place.type, input),
  kind: 'update',
  documentId,
  precondition: null,
  locales: 'new',
})

function stateOf({ draftAndPublish }: ContentType, { values, publishedAt }: Input) {
  const written = { values, strict: true } as const
  if (!draftAndPublish) return { ...written, status: 'published' } as const
  if (typeof publishedAt !== 'string') return { ...written, status: 'draft' } as const
  return { ...written, status: 'published', publishedAt } as const
}

/** The update for a draft version and the one for a published version: the status stays unless the input changes it. */
export function toUpdates(
  { type, locale }: WriteLocation,
  documentId: string | null,
  { values, publishedAt }: Input,
): { readonly draft: UpdateCommand; readonly published: UpdateCommand } {
  const known = type.kind === 'collection' ? ({ locales: 'known' } as const) : {}
  const base = { kind: 'update', type, locale, documentId, values, precondition: null, strict: true } as const
  const draft: UpdateCommand = { ...base, ...known, status: 'draft' }
  const published: UpdateCommand = { ...base, ...known, status: 'published' }
  if (typeof publishedAt === 'string') {
    const at: UpdateCommand = { ...published, publishedAt }
    return { draft: at, published: at }
  }
  if (publishedAt === null) return { draft, published: { ...draft, unpublishes: true } }
  return { draft, published: { ...published, keepsPublishedAt: true } }
}

type Data = Readonly<Record<string, unknown>>

/** A mutation's input: values in REST's form, and `publishedAt`. */
interface WriteInput {
  readonly data: Data
  /** null: unpublish; undefined: not in the input. */
  readonly publishedAt: string | null | undefined
}

/** Converts coerced input to `data`. Other timestamps are accepted and ignored (reference/graphql.md#0-decisions). */
function readInput(type: ContentType, raw: unknown): WriteInput {
  const { createdAt: _created, updatedAt: _updated, publishedAt, ...rest } = isRecord(raw) ? raw : {}
  const data = toData(type, rest)
  if (publishedAt === undefined || publishedAt === null) return { data, publishedAt }
  return { data, publishedAt: String(publishedAt) }
}

const toData = (holder: Holder, raw: Data): Data =>
  Object.fromEntries(
    Object.entries(raw).map(([name, value]) => {
      const attribute = holder.attributes.get(name)
      return [name, attribute ? toValue(attribute, value) : value]
    }),
  )

/** The JSON scalar takes a string as a value; REST would parse that of a `json` attribute, so it is quoted. */
function toValue(attribute: Attribute, value: unknown): unknown {
  switch (attribute.kind) {
    case 'scalar':
      return attribute.type === 'json' && typeof value === 'string' ? toJsonText(value) : value
    case 'component':
      return toItems(value, () => attribute.component)
    case 'zone':
      return toItems(value, item => attribute.components.find(({ uid }) => uid === item.__component))
    default:
      return toLinks(value)
  }
}

/** REST ignores null in a list of links; here it is an unknown document, like an empty id. */
const toLinks = (value: unknown): unknown => (Array.isArray(value) ? value.map(item => item ?? '') : value)

function toItems(value: unknown, componentOf: (item: Data) => Component | undefined): unknown {
  if (Array.isArray(value)) return value.map(each => toItems(each, componentOf))
  const component = isRecord(value) ? componentOf(value) : undefined
  return isRecord(value) && component ? toData(component, value) : value
}
