import { Readable } from 'node:stream'
import type { Caller } from '../../access/caller.ts'
import type { UserValues } from '../../access/compile/condition.ts'
import { CLAIMS } from '../../access/user-path.ts'
import { memoize } from '../../base/memo.ts'
import { toPluginError, ValidationError } from '../../faults/errors.ts'
import { RequestFault } from '../../faults/fault.ts'
import type { HttpRequest } from '../../faults/http-exchange.ts'
import { assertPlainBody, decodeBody, withoutMark } from '../../query/parse-json.ts'
import { createAbility } from '../ability.ts'
import type {
  HttpContext,
  PluginApp,
  PluginRequest,
  PluginResponse,
  ResolverContext,
  RestContext,
  RouteInfo,
} from '../context.ts'
import { knownNames } from '../plugin-module.ts'
import type { RequestState, RequestUser } from '../request-state.ts'
import { type RouteArguments, SharedQuery } from './shared-query.ts'
import { PluginHeaders, SharedResponse } from './shared-response.ts'

export interface RestContextInput {
  readonly request: HttpRequest
  readonly caller: Caller
  readonly args: RouteArguments
}

/** A context with its request and response. */
export interface OpenRestContext {
  readonly context: RestContext
  readonly request: SharedRequest
  readonly response: SharedResponse
}

export interface ContextOptions {
  readonly app: PluginApp
  /** The name of a role by its key. */
  readonly roleName: (type: string) => string
}

export function openRestContext(
  { request, caller, args }: RestContextInput,
  info: RouteInfo,
  { app, roleName }: ContextOptions,
): OpenRestContext {
  const query = new SharedQuery(request.search, args)
  const shared = shareRequest(request, query)
  const response = new SharedResponse(call =>
    app.log.warn(
      `${info.route}: http.response.${call} after the response was sent has no effect: await all work`,
    ),
  )
  const state = requestState(caller, roleName)
  const context: RestContext = {
    kind: 'rest',
    app,
    parent: null,
    get args() {
      // Frozen: a change would have no effect. That of `query` has one.
      return Object.freeze({ ...query.parameters, ...args.named })
    },
    get query() {
      return query.value
    },
    set query(value) {
      query.value = value
    },
    get context() {
      return context
    },
    info,
    http: toHttpContext(shared.pluginRequest, response),
    get state() {
      return state
    },
    is: kind => kind === 'rest',
  }
  // What code of Koa writes (`ctx.body = …`) is an error at its line instead of an empty response.
  Object.setPrototypeOf(context, KOA_NAMES)
  return { context: Object.preventExtensions(context), request: shared, response }
}

/** An assignment that would have no effect is an error at its line: only `search` of a request can be changed. */
const toHttpContext = (request: PluginRequest, response: PluginResponse): HttpContext =>
  Object.freeze({ request: Object.freeze(request), response: Object.preventExtensions(response) })

/** Built on first use, once for each caller. */
const abilityOf = memoize(createAbility)

/** The caller as plugins see it. */
export function requestState(caller: Caller, roleName: ContextOptions['roleName']): RequestState {
  const { kind, grants, user } = caller
  return {
    user: user && kind !== 'external' ? toRequestUser(user) : null,
    claims: (user?.[CLAIMS] ?? null) as RequestState['claims'],
    token: kind === 'token' ? { name: grants.name } : null,
    role: kind === 'token' ? null : { type: grants.name, name: roleName(grants.name) },
    get ability() {
      return abilityOf(caller)
    },
  }
}

/** Sessions load all these attributes (identity/users/user-values.ts). Those that validate a session are not exposed. */
function toRequestUser({ sessionVersion: _version, keptSession: _kept, ...user }: UserValues): RequestUser {
  return user as unknown as RequestUser
}

/** One GraphQL request as resolvers, policies and middlewares see it. */
export interface ResolverRequest {
  readonly context: ResolverContext
  /** The request for the endpoint; the body can be read again. */
  passed(): HttpRequest
  /** Response headers that plugins set. */
  headers(): Readonly<Record<string, string>>
}

export function openResolverRequest(
  request: HttpRequest,
  caller: Caller,
  { app, roleName }: ContextOptions,
): ResolverRequest {
  const shared = shareRequest(request)
  const response = new OperationResponse()
  const context: ResolverContext = {
    app,
    http: toHttpContext(shared.pluginRequest, response),
    state: requestState(caller, roleName),
  }
  return { context, passed: () => shared.passed(), headers: () => response.headers() }
}

/** Plugins can only add headers: the response is made from resolver results. */
class OperationResponse implements PluginResponse {
  readonly #headers = new PluginHeaders()

  get body(): null {
    return null
  }

  set body(_value: unknown) {
    throw forRoutes('body')
  }

  get status(): number {
    return 0
  }

  set status(_value: number) {
    throw forRoutes('status')
  }

  json(): undefined {
    return undefined
  }

  send(): never {
    throw forRoutes('send')
  }

  setHeader(name: string, value: string): void {
    if (name.toLowerCase() === 'content-type') throw new Error(`${name} is set by the server`)
    this.#headers.set(name, value)
  }

  headers(): Readonly<Record<string, string>> {
    return this.#headers.over()
  }
}

const forRoutes = (name: string): Error =>
  new Error(`a GraphQL operation is answered by its resolvers: http.response.${name} is for routes`)

interface SharedRequest {
  /** The request as plugins see it. */
  readonly pluginRequest: PluginRequest
  /** The request for the route: with the query string as plugins left it; the body can be read again. */
  passed(): HttpRequest
}

/** Makes a request readable by plugins and by the route. */
function shareRequest(
  request: HttpRequest,
  query: Pick<SharedQuery, 'search' | 'changed'> = { search: request.search, changed: undefined },
): SharedRequest {
  let reading: Promise<Buffer> | undefined
  const read = () => {
    reading ??= request.body()
    return reading
  }
  const body = () =>
    read().catch(error => {
      throw error instanceof RequestFault ? toPluginError(error.fault) : error
    })
  const { id, method, path, headers, peer, timing = null, origin } = request
  const seen: PluginRequest = {
    ...{ id, method, path, headers, peer },
    get search() {
      return query.search
    },
    set search(text) {
      query.search = text
    },
    body,
    json: async () => parseBody(await body()),
  }
  return {
    pluginRequest: seen,
    passed: () => ({
      ...{ id, method, path, headers, peer, timing, origin },
      ...(request.writes && { writes: request.writes }),
      search: query.search,
      ...(query.changed && { query: query.changed }),
      body: read,
      stream: () => (reading ? Readable.from(bodyStream(body)) : request.stream()),
    }),
  }
}

async function* bodyStream(body: () => Promise<Buffer>): AsyncGenerator<Buffer> {
  yield await body()
}

function parseBody(body: Buffer): unknown {
  try {
    const parsed: unknown = JSON.parse(withoutMark(decodeBody(body)))
    if (typeof parsed === 'object' && parsed !== null) assertPlainBody(parsed)
    return parsed
  } catch (error) {
    throw new ValidationError(error instanceof Error ? error.message : 'The body is no JSON')
  }
}

/** What code of Koa, as in Strapi, reads and writes in a context, and what has its place here. */
const KOA_REPLACEMENTS: Readonly<Record<string, string>> = {
  body: 'return the body, or use http.response.send(value)',
  status: 'use http.response.send(value, { status })',
  type: 'use http.response.send(value, { type })',
  response: 'use http.response',
  res: 'use http.response',
  set: 'use http.response.setHeader(name, value)',
  send: 'return the body, or use http.response.send(value)',
  created: 'use http.response.send(value, { status: 201 })',
  redirect: "use http.response.send(null, { status: 302 }) and setHeader('Location', url)",
  request: 'use http.request, and await http.request.json() for the body',
  req: 'use http.request',
  params: 'use args',
  headers: 'use http.request.headers',
  header: 'use http.request.headers',
  get: 'use http.request.headers',
  method: 'use http.request.method',
  path: 'use http.request.path',
  url: 'use http.request.path and http.request.search',
  ip: 'use http.request.peer',
  cookies: 'use http.request.headers.cookie, and http.response.setHeader',
  throw: "throw new NotFoundError(…) or another error of 'plinth'",
  assert: "throw new NotFoundError(…) or another error of 'plinth'",
  badRequest: 'throw new BadRequestError(…)',
  unauthorized: 'throw new UnauthorizedError(…)',
  forbidden: 'throw new ForbiddenError(…)',
  notFound: 'throw new NotFoundError(…)',
  conflict: 'throw new ConflictError(…)',
  internalServerError: 'throw new Error(…)',
}

const refuseKoaName = (name: string, replacement: string): never => {
  throw new TypeError(`context.${name} is of Koa: ${replacement}`)
}

/** The prototype of contexts: names of Koa are errors that say what to write instead, and so are unknown ones. */
const KOA_NAMES: object = Object.freeze(
  Object.create(
    knownNames('context'),
    Object.fromEntries(
      Object.entries(KOA_REPLACEMENTS).map(([name, replacement]) => [
        name,
        { get: () => refuseKoaName(name, replacement), set: () => refuseKoaName(name, replacement) },
      ]),
    ),
  ),
)
