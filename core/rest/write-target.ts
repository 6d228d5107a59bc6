import { failed, ok, type Result } from '../base/result.ts'
import { type Fault, fault } from '../faults/fault.ts'
import type { ContentType } from '../model/model.ts'
import type { LocaleChoice, Query, RestrictedQuery, Status } from '../query/query.ts'
import { parseSharedQuery, type QueryParseTerms } from './parameters/parse-query.ts'
import { parseDeletedLocale, parseWrittenLocale } from './parameters/parse-version.ts'
import type { QueryParameters } from './parse-query-string.ts'
import { cacheBySearch, restrictOnce } from './query-cache.ts'
import { inputParameters, type RestCall, type RestTerms, restrictQuery } from './rest-call.ts'

/** The parsed query string of a POST or PUT. */
export interface WriteTarget {
  readonly locale: string | null
  /** Always `published` for types without drafts. */
  readonly status: Status
  /** The query that reads the answer. */
  readonly answer: RestrictedQuery
}

/** A write target that is not yet restricted to a caller. */
interface ParsedTarget extends Omit<WriteTarget, 'answer'> {
  readonly query: Query
}

export function parseWriteTarget(
  call: RestCall,
  action: 'create' | 'update',
  terms: RestTerms,
): Result<WriteTarget, Fault> {
  const { caller, input, request, route } = call
  if (!input) {
    const known = cachedTargets[action](route.type, request.search, terms)
    if (!known.ok) return known
    const { parsed } = known.value
    return toWriteTarget(
      parsed,
      restrictOnce(known.value, caller, () => restrictAnswer(parsed.query, call, action)),
    )
  }
  const parsed = parseTarget(route.type, input.parameters, terms)
  return parsed.ok ? toWriteTarget(parsed.value, restrictAnswer(parsed.value.query, call, action)) : parsed
}

const toWriteTarget = (
  { locale, status }: ParsedTarget,
  answer: Result<RestrictedQuery, Fault>,
): Result<WriteTarget, Fault> => (answer.ok ? ok({ locale, status, answer: answer.value }) : answer)

function parseTarget(
  type: ContentType,
  parameters: QueryParameters,
  terms: QueryParseTerms,
): Result<ParsedTarget, Fault> {
  const shared = parseSharedQuery(type, parameters, terms)
  if (!shared.ok) return shared
  const locale = parseWrittenLocale(type, parameters.locale, terms.model)
  if (!locale.ok) return locale
  const query: Query = { ...shared.value, take: ONE_DOCUMENT, locale: toLocaleChoice(locale.value) }
  const status = type.draftAndPublish ? shared.value.status : 'published'
  return ok({ locale: locale.value, status, query })
}

const queryOf = ({ query }: ParsedTarget): Query => query

/** One cache per action: the permission that restricts the answer differs. */
const cachedTargets = {
  create: cacheBySearch(parseTarget, queryOf),
  update: cacheBySearch(parseTarget, queryOf),
}

/** The parsed query string of a DELETE. */
export interface DeleteTarget {
  /** null: all locales, or a type without locales. */
  readonly locale: string | null
  /** Queries for the versions that `If-Match` may name: the published one and the draft. */
  readonly versions: readonly RestrictedQuery[]
}

export function parseDeleteTarget(call: RestCall, terms: RestTerms): Result<DeleteTarget, Fault> {
  const { type } = call.route
  const parameters = inputParameters(call)
  if (!parameters.ok) return parameters
  const shared = parseSharedQuery(type, parameters.value, terms)
  if (!shared.ok) return shared
  const locale = parseDeletedLocale(type, parameters.value.locale, terms.model)
  if (!locale.ok) return locale
  if (type.draftAndPublish && shared.value.status === 'draft') return failed(noDraftAlone(type))
  const answered = type.localized ? (locale.value ?? terms.model.defaultLocale) : null
  const query: Query = { ...shared.value, take: ONE_DOCUMENT, locale: toLocaleChoice(answered) }
  const published = restrictAnswer(query, call, 'delete')
  if (!published.ok) return published
  if (!type.draftAndPublish) return ok({ locale: locale.value, versions: [published.value] })
  const draft = restrictAnswer({ ...query, status: 'draft' }, call, 'delete')
  return draft.ok ? ok({ locale: locale.value, versions: [published.value, draft.value] }) : draft
}

/** The document service fills in the id of the written document. */
const ONE_DOCUMENT: Query['take'] = { kind: 'one', documentId: null }

const toLocaleChoice = (locale: string | null): LocaleChoice =>
  locale === null ? { kind: 'all' } : { kind: 'these', codes: [locale] }

/** Conditions have no effect on a write's answer: they are validated, then dropped (reference/rest.md#7-filters). */
function restrictAnswer(
  query: Query,
  call: RestCall,
  action: 'create' | 'update' | 'delete',
): Result<RestrictedQuery, Fault> {
  const { filter, search, sort, publication } = query
  if (filter || search || publication || sort.length > 0) {
    const checked = restrictQuery(query, call, action)
    if (!checked.ok) return checked
  }
  return restrictQuery({ ...query, filter: null, search: null, publication: null, sort: [] }, call, action)
}

const noDraftAlone = ({ key }: ContentType): Fault =>
  fault('validation', `The draft of a document of ${key} cannot be deleted alone: leave out status`, {
    key: 'status',
  })
