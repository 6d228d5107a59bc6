import { failed, ok, type Result } from '../base/result.ts'
import { type Fault, fault } from '../faults/fault.ts'
import type { ContentType } from '../model/model.ts'
import type { LocaleChoice, Query, RestrictedQuery, Status } from '../query/query.ts'
import { rememberByText, seeKnown } from './known-queries.ts'
import { parseSharedQuery, type QueryTerms } from './parameters/parse-query.ts'
import { parseDeletedLocale, parseWrittenLocale } from './parameters/parse-version.ts'
import type { Parameters } from './parse-query-string.ts'
import { parametersOf, see } from './request-input.ts'
import type { RestTerms, Visit } from './request-visit.ts'

/** What the query string of a POST or PUT says. */
export interface WriteTarget {
  readonly locale: string | null
  /** Of types without drafts always `published`. */
  readonly status: Status
  /** Reads the answer. */
  readonly answer: RestrictedQuery
}

/** Before it is known who asks. */
interface AskedTarget extends Omit<WriteTarget, 'answer'> {
  readonly query: Query
}

export function parseWriteTarget(
  visit: Visit,
  action: 'create' | 'update',
  terms: RestTerms,
): Result<WriteTarget, Fault> {
  const { caller, given, request, route } = visit
  if (!given) {
    const known = targets[action](route.type, request.search, terms)
    if (!known.ok) return known
    const { parsed } = known.value
    return targetOf(
      parsed,
      seeKnown(known.value, caller, () => restrictAnswer(parsed.query, visit, action)),
    )
  }
  const parsed = parseTarget(route.type, given.parameters, terms)
  return parsed.ok ? targetOf(parsed.value, restrictAnswer(parsed.value.query, visit, action)) : parsed
}

const targetOf = (
  { locale, status }: AskedTarget,
  answer: Result<RestrictedQuery, Fault>,
): Result<WriteTarget, Fault> => (answer.ok ? ok({ locale, status, answer: answer.value }) : answer)

function parseTarget(
  type: ContentType,
  parameters: Parameters,
  terms: QueryTerms,
): Result<AskedTarget, Fault> {
  const shared = parseSharedQuery(type, parameters, terms)
  if (!shared.ok) return shared
  const locale = parseWrittenLocale(type, parameters.locale, terms.model)
  if (!locale.ok) return locale
  const query: Query = { ...shared.value, take: WRITTEN, locale: chosen(locale.value) }
  const status = type.draftAndPublish ? shared.value.status : 'published'
  return ok({ locale: locale.value, status, query })
}

const queryOf = ({ query }: AskedTarget): Query => query

/** What is seen of a target hangs on the action. */
const targets = {
  create: rememberByText(parseTarget, queryOf),
  update: rememberByText(parseTarget, queryOf),
}

/** What the query string of a DELETE says. */
export interface DeleteTarget {
  /** null: all of them, and on types without locales. */
  readonly locale: string | null
  /** Read what `If-Match` may name: the published version, and the draft that goes with it. */
  readonly seen: readonly RestrictedQuery[]
}

export function parseDeleted(visit: Visit, terms: RestTerms): Result<DeleteTarget, Fault> {
  const { type } = visit.route
  const parameters = parametersOf(visit)
  if (!parameters.ok) return parameters
  const shared = parseSharedQuery(type, parameters.value, terms)
  if (!shared.ok) return shared
  const locale = parseDeletedLocale(type, parameters.value.locale, terms.model)
  if (!locale.ok) return locale
  if (type.draftAndPublish && shared.value.status === 'draft') return failed(noDraftAlone(type))
  const seen = type.localized ? (locale.value ?? terms.model.defaultLocale) : null
  const query: Query = { ...shared.value, take: WRITTEN, locale: chosen(seen) }
  const published = restrictAnswer(query, visit, 'delete')
  if (!published.ok) return published
  if (!type.draftAndPublish) return ok({ locale: locale.value, seen: [published.value] })
  const draft = restrictAnswer({ ...query, status: 'draft' }, visit, 'delete')
  return draft.ok ? ok({ locale: locale.value, seen: [published.value, draft.value] }) : draft
}

/** The document service puts the id of what it wrote in. */
const WRITTEN: Query['take'] = { kind: 'one', documentId: null }

const chosen = (locale: string | null): LocaleChoice =>
  locale === null ? { kind: 'all' } : { kind: 'these', codes: [locale] }

/** Conditions on what is written mean nothing: they are checked, and then left out (contract/rest.md 7). */
function restrictAnswer(
  query: Query,
  visit: Visit,
  action: 'create' | 'update' | 'delete',
): Result<RestrictedQuery, Fault> {
  const { filter, search, sort, publication } = query
  if (filter || search || publication || sort.length > 0) {
    const checked = see(query, visit, action)
    if (!checked.ok) return checked
  }
  return see({ ...query, filter: null, search: null, publication: null, sort: [] }, visit, action)
}

const noDraftAlone = ({ key }: ContentType): Fault =>
  fault('validation', `The draft of a document of ${key} cannot be deleted alone: leave out status`, {
    key: 'status',
  })
