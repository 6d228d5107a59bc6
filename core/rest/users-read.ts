import { restrict } from '../access/restrict.ts'
import { failed, ok, type Result } from '../base/result.ts'
import { answerFault, type HttpAnswer } from '../faults/exchange.ts'
import { type Fault, fault, forbidden } from '../faults/fault.ts'
import { scalarOf } from '../identity/user-values.ts'
import type { Filter, Query, RestrictedQuery } from '../query/query.ts'
import { answer, refuse } from './answer.ts'
import type { EndpointVisit } from './endpoint.ts'
import { parseId } from './parse-id.ts'
import { parseSharedQuery } from './parse-query.ts'
import { type Parameters, parseQueryString } from './parse-query-string.ts'
import { parseTopPage } from './parse-top-page.ts'
import type { RestTerms } from './visit.ts'

/** A bare list (contract/rest.md 14). */
export async function findUsers(visit: EndpointVisit, terms: RestTerms): Promise<HttpAnswer> {
  const parsed = parseUsers(visit, terms)
  if (!parsed.ok) return refuse(parsed)
  const page = parseTopPage(parsed.value.parameters, terms.settings.maxLimit)
  if (!page.ok) return refuse(page)
  const take = { kind: 'many', page: page.value, total: false } as const
  const restricted = restrict({ ...parsed.value.query, take }, visit.caller)
  if (!restricted.ok) return refuse(restricted)
  return answer((await terms.documents.findMany(restricted.value, 'flat')).text, visit)
}

/** A bare number. */
export async function countUsers(visit: EndpointVisit, terms: RestTerms): Promise<HttpAnswer> {
  const parsed = parseUsers(visit, terms)
  if (!parsed.ok) return refuse(parsed)
  const restricted = restrictCount(parsed.value.query, visit)
  if (!restricted.ok) return refuse(restricted)
  const { total } = await terms.documents.findMany(restricted.value, 'flat')
  return answer(String(total ?? 0), visit)
}

/** Who may not find, counts all there are; under a condition only what the caller finds is counted, for it tells of each. */
function restrictCount(query: Query, { caller }: EndpointVisit): Result<RestrictedQuery, Fault> {
  if (!query.filter && !query.search) return restrict(query, caller, 'count')
  return caller.grants.allows('users', 'find') ? restrict(query, caller, 'find') : failed(forbidden())
}

/** A bare user by numeric id; 204 where there is none. */
export async function findUser(visit: EndpointVisit, terms: RestTerms): Promise<HttpAnswer> {
  const parsed = parseUsers(visit, terms)
  if (!parsed.ok) return refuse(parsed)
  const id = parseId(visit.id)
  if (!id.ok) return refuse(id)
  const text = await readUser(withId(parsed.value.query, id.value), 'findOne', visit, terms)
  if (!text.ok) return refuse(text)
  return text.value === null ? { status: 204, body: null } : answer(text.value, visit)
}

/** Who asks. An API token is nobody (contract/rest.md 2). */
export async function findMe(visit: EndpointVisit, terms: RestTerms): Promise<HttpAnswer> {
  const id = visit.caller.user?.id
  if (typeof id !== 'number') return answerFault(fault('unauthorized', 'Unauthorized'))
  const parsed = parseUsers(visit, terms)
  if (!parsed.ok) return refuse(parsed)
  const text = await readUser(withId(parsed.value.query, id), 'me', visit, terms)
  if (!text.ok) return refuse(text)
  return text.value === null ? answerFault(fault('unauthorized', 'Unauthorized')) : answer(text.value, visit)
}

interface ParsedUsers {
  readonly query: Query
  readonly parameters: Parameters
}

function parseUsers({ request }: EndpointVisit, terms: RestTerms): Result<ParsedUsers, Fault> {
  const parameters = parseQueryString(request.search)
  if (!parameters.ok) return parameters
  const shared = parseSharedQuery(terms.model.builtIn.user, parameters.value, terms)
  if (!shared.ok) return shared
  const take = { kind: 'many', page: { start: 0, limit: 1 }, total: true } as const
  return ok({ query: { ...shared.value, take, locale: { kind: 'all' } }, parameters: parameters.value })
}

function withId(query: Query, id: number): Query {
  const own: Filter = {
    kind: 'comparison',
    attribute: scalarOf(query.type, 'id'),
    operator: '$eq',
    values: [id],
  }
  const filters = query.filter ? [own, query.filter] : [own]
  return {
    ...query,
    take: { kind: 'many', page: { start: 0, limit: 1 }, total: false },
    filter: { kind: 'and', filters },
  }
}

/** The JSON text of the only user; null: there is none to see. */
async function readUser(
  query: Query,
  action: 'findOne' | 'me',
  { caller }: EndpointVisit,
  { documents }: RestTerms,
): Promise<Result<string | null, Fault>> {
  const restricted = restrict(query, caller, action)
  if (!restricted.ok) return restricted
  const { text } = await documents.findMany(restricted.value, 'flat')
  return ok(text === '[]' ? null : text.slice(1, -1))
}
