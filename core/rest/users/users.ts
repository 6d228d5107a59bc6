import { failed, ok, type Result } from '../../base/result.ts'
import type { Fault } from '../../faults/fault.ts'
import type { HttpResponse, Responder } from '../../faults/http-exchange.ts'
import type { UsersService } from '../../identity/users/users-service.ts'
import type { Query } from '../../query/query.ts'
import { answerJson, answerRefusal } from '../answer.ts'
import { type Endpoint, type EndpointCall, openEndpoints, parseRowId } from '../endpoint.ts'
import { parseTopPage } from '../parameters/parse-pagination.ts'
import { parseSharedQuery } from '../parameters/parse-query.ts'
import { readBareBody } from '../parse-body.ts'
import { parseQueryString } from '../parse-query-string.ts'
import type { RestTerms } from '../rest-call.ts'

/** Users over REST, without an envelope and by numeric id (reference/rest.md#14-access). */
export function openUserRoutes(terms: UsersRouteTerms): Responder {
  const on = (action: Endpoint['action'], perform: UsersHandler): Endpoint => ({
    subject: 'users',
    action,
    perform: call => perform(call, terms),
  })
  return openEndpoints(
    {
      users: { GET: on('find', getUsers), POST: on('create', postUser) },
      'users/count': { GET: on('count', getUserCount) },
      'users/me': { GET: on('me', getMe) },
      'users/:id': {
        GET: on('findOne', getUser),
        PUT: on('update', putUser),
        DELETE: on('delete', removeUser),
      },
    },
    { ...terms, prefix: terms.settings.prefix },
  )
}

interface UsersRouteTerms extends RestTerms {
  readonly users: UsersService
}

type UsersHandler = (call: EndpointCall, terms: UsersRouteTerms) => Promise<HttpResponse>

/** A list without an envelope (reference/rest.md#14-access). */
const getUsers: UsersHandler = async (call, terms) => {
  const query = parseUsers(call, terms, true)
  if (!query.ok) return answerRefusal(query)
  return answerText(await terms.users.findMany(query.value, call.caller), call)
}

/** A number without an envelope. */
const getUserCount: UsersHandler = async (call, terms) => {
  const query = parseUsers(call, terms)
  if (!query.ok) return answerRefusal(query)
  const counted = await terms.users.count(query.value, call.caller)
  return counted.ok ? answerJson(String(counted.value), call) : answerRefusal(counted)
}

/** A user by numeric id; 204 if there is none. */
const getUser: UsersHandler = async (call, terms) => {
  const query = parseUsers(call, terms)
  if (!query.ok) return answerRefusal(query)
  const id = parseRowId(call.id)
  if (!id.ok) return answerRefusal(id)
  return answerText(await terms.users.findOne(id.value, query.value, call.caller), call)
}

/** The caller's own user. */
const getMe: UsersHandler = async (call, terms) => {
  const query = parseUsers(call, terms)
  if (!query.ok) return answerRefusal(query)
  return answerText(await terms.users.me(query.value, call.caller), call)
}

/** 201 with the user and their role (reference/rest.md#14-access). */
const postUser: UsersHandler = async (call, { users }) => {
  const body = await readBareBody(call.request)
  if (!body.ok) return answerRefusal(body)
  const created = await users.create(body.value, call.caller)
  return created.ok ? answerJson(created.value ?? 'null', call, 201) : answerRefusal(created)
}

/** 200 with the user and their role. */
const putUser: UsersHandler = async ({ id: word, ...call }, { users }) => {
  const body = await readBareBody(call.request)
  if (!body.ok) return answerRefusal(body)
  const id = parseRowId(word)
  if (!id.ok) return answerRefusal(id)
  const updated = await users.update(id.value, { body: body.value, caller: call.caller })
  return updated.ok ? answerJson(updated.value ?? 'null', call) : answerRefusal(updated)
}

/** 200 with the deleted user; 204 if there was none. */
const removeUser: UsersHandler = async (call, { users }) => {
  const id = parseRowId(call.id)
  return id.ok ? answerText(await users.delete(id.value, call.caller), call) : answerRefusal(id)
}

const answerText = (text: Result<string | null, Fault>, call: EndpointCall): HttpResponse => {
  if (!text.ok) return answerRefusal(text)
  return text.value === null ? { status: 204, body: null } : answerJson(text.value, call)
}

/** `paged`: with `start` and `limit` as top-level parameters. */
function parseUsers({ request }: EndpointCall, terms: RestTerms, paged = false): Result<Query, Fault> {
  const parameters = parseQueryString(request.search)
  if (!parameters.ok) return parameters
  const shared = parseSharedQuery(terms.model.builtIn.user, parameters.value, terms)
  if (!shared.ok) return shared
  const page = paged ? parseTopPage(parameters.value, terms.settings.maxLimit) : ok({ start: 0, limit: 1 })
  if (!page.ok) return failed(...page.reasons)
  const take = { kind: 'many', page: page.value, total: false } as const
  return ok({ ...shared.value, take, locale: { kind: 'all' } })
}
