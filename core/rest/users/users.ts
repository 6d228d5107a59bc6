import { parseTopPage } from '../../actions/parameters/parse-pagination.ts'
import { parseSharedQuery } from '../../actions/parameters/parse-query.ts'
import type { HttpResponse, Responder } from '../../faults/http-exchange.ts'
import type { UsersService } from '../../identity/users/users-service.ts'
import type { Query } from '../../query/query.ts'
import { answerJson } from '../answer.ts'
import { type Endpoint, type EndpointCall, openEndpoints, parseRowId } from '../endpoint.ts'
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
const getUsers: UsersHandler = async (call, terms) =>
  answerText(await terms.users.findMany(parseUsers(call, terms, true), call.caller), call)

/** A number without an envelope. */
const getUserCount: UsersHandler = async (call, terms) =>
  answerJson(String(await terms.users.count(parseUsers(call, terms), call.caller)), call)

/** A user by numeric id; 204 if there is none. */
const getUser: UsersHandler = async (call, terms) => {
  const query = parseUsers(call, terms)
  return answerText(await terms.users.findOne(parseRowId(call.id), query, call.caller), call)
}

/** The caller's own user. */
const getMe: UsersHandler = async (call, terms) =>
  answerText(await terms.users.me(parseUsers(call, terms), call.caller), call)

/** 201 with the user and their role (reference/rest.md#14-access). */
const postUser: UsersHandler = async (call, { users }) => {
  const body = await readBareBody(call.request)
  return answerJson((await users.create(body, call.caller)) ?? 'null', call, 201)
}

/** 200 with the user and their role. */
const putUser: UsersHandler = async ({ id: word, ...call }, { users }) => {
  const body = await readBareBody(call.request)
  const updated = await users.update(parseRowId(word), { body, caller: call.caller })
  return answerJson(updated ?? 'null', call)
}

/** 200 with the deleted user; 204 if there was none. */
const removeUser: UsersHandler = async (call, { users }) =>
  answerText(await users.delete(parseRowId(call.id), call.caller), call)

const answerText = (text: string | null, call: EndpointCall): HttpResponse =>
  text === null ? { status: 204, body: null } : answerJson(text, call)

/** `paged`: with `start` and `limit` as top-level parameters. */
function parseUsers({ request }: EndpointCall, terms: RestTerms, paged = false): Query {
  const parameters = parseQueryString(request.search)
  const shared = parseSharedQuery(terms.model.builtIn.user, parameters, terms)
  const page = paged ? parseTopPage(parameters, terms.settings.maxLimit) : { start: 0, limit: 1 }
  return { ...shared, take: { kind: 'many', page, total: false }, locale: { kind: 'all' } }
}
