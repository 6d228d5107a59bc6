import { failed, ok, type Result } from '../../base/result.ts'
import type { HttpAnswer } from '../../faults/exchange.ts'
import type { Fault } from '../../faults/fault.ts'
import type { UsersService } from '../../identity/users/users-service.ts'
import type { Query } from '../../query/query.ts'
import { answer, refuse } from '../answer.ts'
import type { EndpointVisit } from '../endpoint.ts'
import { parseSharedQuery } from '../parameters/parse-query.ts'
import { parseTopPage } from '../parameters/parse-top-page.ts'
import { readBare } from '../parse-body.ts'
import { parseId } from '../parse-id.ts'
import { parseQueryString } from '../parse-query-string.ts'
import type { RestTerms } from '../request-visit.ts'

export interface UsersTerms extends RestTerms {
  readonly users: UsersService
}

export type PerformUsers = (visit: EndpointVisit, terms: UsersTerms) => Promise<HttpAnswer>

/** A bare list (contract/rest.md 14). */
export const findUsers: PerformUsers = async (visit, terms) => {
  const query = parseUsers(visit, terms, true)
  if (!query.ok) return refuse(query)
  return answerText(await terms.users.findMany(query.value, visit.caller), visit)
}

/** A bare number. */
export const countUsers: PerformUsers = async (visit, terms) => {
  const query = parseUsers(visit, terms)
  if (!query.ok) return refuse(query)
  const counted = await terms.users.count(query.value, visit.caller)
  return counted.ok ? answer(String(counted.value), visit) : refuse(counted)
}

/** A bare user by numeric id; 204 where there is none. */
export const findUser: PerformUsers = async (visit, terms) => {
  const query = parseUsers(visit, terms)
  if (!query.ok) return refuse(query)
  const id = parseId(visit.id)
  if (!id.ok) return refuse(id)
  return answerText(await terms.users.findOne(id.value, query.value, visit.caller), visit)
}

/** Who asks. */
export const findMe: PerformUsers = async (visit, terms) => {
  const query = parseUsers(visit, terms)
  if (!query.ok) return refuse(query)
  return answerText(await terms.users.me(query.value, visit.caller), visit)
}

/** 201 with the user and his role (contract/rest.md 14). */
export const createUser: PerformUsers = async (visit, { users }) => {
  const body = await readBare(visit.request)
  if (!body.ok) return refuse(body)
  const created = await users.create(body.value, visit.caller)
  return created.ok ? answer(created.value ?? 'null', visit, 201) : refuse(created)
}

/** 200 with the user and his role. */
export const updateUser: PerformUsers = async ({ id: word, ...visit }, { users }) => {
  const body = await readBare(visit.request)
  if (!body.ok) return refuse(body)
  const id = parseId(word)
  if (!id.ok) return refuse(id)
  const updated = await users.update(id.value, { body: body.value, caller: visit.caller })
  return updated.ok ? answer(updated.value ?? 'null', visit) : refuse(updated)
}

/** 200 with the user as he was; 204 where there was none. */
export const deleteUser: PerformUsers = async (visit, { users }) => {
  const id = parseId(visit.id)
  return id.ok ? answerText(await users.delete(id.value, visit.caller), visit) : refuse(id)
}

const answerText = (text: Result<string | null, Fault>, visit: EndpointVisit): HttpAnswer => {
  if (!text.ok) return refuse(text)
  return text.value === null ? { status: 204, body: null } : answer(text.value, visit)
}

/** `paged`: by `start` and `limit`, at the top. */
function parseUsers({ request }: EndpointVisit, terms: RestTerms, paged = false): Result<Query, Fault> {
  const parameters = parseQueryString(request.search)
  if (!parameters.ok) return parameters
  const shared = parseSharedQuery(terms.model.builtIn.user, parameters.value, terms)
  if (!shared.ok) return shared
  const page = paged ? parseTopPage(parameters.value, terms.settings.maxLimit) : ok({ start: 0, limit: 1 })
  if (!page.ok) return failed(...page.reasons)
  const take = { kind: 'many', page: page.value, total: false } as const
  return ok({ ...shared.value, take, locale: { kind: 'all' } })
}
