import { failed, ok, type Result } from '../../base/result.ts'
import { type Fault, fault } from '../../faults/fault.ts'
import { graphqlTypeName, graphqlWrapperNames } from '../../model/graphql-names.ts'
import type { ContentType, Model } from '../../model/model.ts'
import type { CreateCommand, GivenValues, UpdateCommand } from '../../query/command.ts'
import { parseGivenValues } from '../../query/parse-given-values.ts'
import { parseDateTime } from '../../query/parse-moment.ts'
import type { Query } from '../../query/query.ts'
import { fieldsBelow } from './collect-fields.ts'
import type { OperationContext } from './operation-context.ts'
import { type AskedRoot, withinSteps } from './parse-read.ts'
import { parseDocument } from './parse-selection.ts'
import { type GivenInput, readInput } from './read-input.ts'

/** The query by which a mutation answers with the document that it wrote: what is published of it, else the draft. */
export function parseAnswer(
  { root: { type }, nodes }: Pick<AskedRoot, 'root' | 'nodes'>,
  locale: string | null,
  context: OperationContext,
): Result<Query, Fault> {
  const status = type.draftAndPublish ? 'latest' : 'published'
  const answer = fieldsBelow(nodes, graphqlWrapperNames(graphqlTypeName(type)).response, context)
  const selection = parseDocument(type, answer, { ...context, status })
  if (!selection.ok) return selection
  return withinSteps({
    kind: 'query',
    type,
    // The document service puts the id of what it wrote in.
    take: { kind: 'one', documentId: null },
    status,
    locale: locale === null ? { kind: 'all' } : { kind: 'these', codes: [locale] },
    selection: selection.value,
    filter: null,
    search: null,
    publication: null,
    sort: [],
  })
}

/** One locale of the project, by default the default one; null on types without locales. */
export function parseLocale(
  { localized }: ContentType,
  raw: unknown,
  { locales, defaultLocale }: Model,
): Result<string | null, Fault> {
  if (!localized) return ok(null)
  if (raw === undefined || raw === null) return ok(defaultLocale)
  const codes = locales.map(({ code }) => code)
  const known = codes.find(code => code === raw)
  if (known !== undefined) return ok(known)
  const message = `Unknown locale ${String(raw)}: the locales are ${codes.join(', ')}`
  return failed(fault('validation', message, { key: 'locale', expected: codes }))
}

/** What is written, and where. */
export interface WritePlace {
  readonly type: ContentType
  readonly locale: string | null
}

/** The `data` of a mutation; the first key of it that may not be set is refused. */
export function parseValues(
  type: ContentType,
  raw: unknown,
): Result<GivenInput & { readonly values: GivenValues }, Fault> {
  const input = readInput(type, raw)
  const values = parseGivenValues(type, input.data)
  if (!values.ok) return values
  const at = parseMoment(input.publishedAt)
  return at.ok ? ok({ ...input, publishedAt: at.value, values: values.value }) : at
}

/** Within the years that PostgreSQL and the four digits of ISO can say alike. */
function parseMoment(given: GivenInput['publishedAt']): Result<GivenInput['publishedAt'], Fault> {
  if (typeof given !== 'string') return ok(given)
  const parsed = parseDateTime(given)
  return parsed.ok ? parsed : failed(fault('validation', String(parsed.reasons[0]?.message)))
}

type Input = Pick<GivenInput, 'publishedAt'> & { readonly values: GivenValues }

/** A draft, unless it says when it was published (contract/graphql.md 6). */
export const toCreate = ({ type, locale }: WritePlace, input: Input): CreateCommand => ({
  kind: 'create',
  type,
  locale,
  ...stateOf(type, input),
})

/** A further locale of a document, in the same states as a new one. */
export const toLocalize = (place: WritePlace, documentId: string | null, input: Input): UpdateCommand => ({
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

/** The updates that are meant where the version is a draft, and where it is published: it stays what it is unless the input says otherwise. */
export function toUpdates(
  { type, locale }: WritePlace,
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
