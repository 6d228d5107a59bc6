import type { PermissionScope } from '../access/permission-scopes.ts'
import { withPluginErrors } from '../actions/perform.ts'
import { addFrame } from '../base/project-frame.ts'
import { toPluginError } from '../faults/errors.ts'
import { fault, faultOfBody, notFound, RequestFault } from '../faults/fault.ts'
import { firstAnswer, type HttpRequest, type HttpResponse, type Responder } from '../faults/http-exchange.ts'
import type { Model } from '../model/model.ts'
import type { RestContext } from '../plugins/context.ts'
import type { RegisteredPlugins } from '../plugins/register.ts'
import {
  compileGuard,
  type ExtensionRoute,
  type GuardedRoute,
  type GuardOptions,
  pathSegments,
  type RouteGuard,
} from '../plugins/route-guard.ts'
import { toJsonBody } from '../plugins/services/shared-response.ts'
import { answerMethod } from './answer.ts'
import { type GeneratedResponder, routeArguments, wordsBelow } from './endpoint.ts'
import { generatedRouteName } from './route-claims.ts'

interface CompiledRoute {
  readonly route: ExtensionRoute
  readonly words: readonly string[]
  readonly guard: RouteGuard
}

export interface ExtensionResponders {
  /** Answer the routes of extensions. They precede the content-types' routes, whose parameters could match the same path. */
  readonly first: readonly Responder[]
  /** Answers what the responders answer; the allowed methods of a path include those of extensions. */
  withMethods(responders: readonly Responder[]): readonly Responder[]
}

export interface ExtensionRouteOptions extends GuardOptions {
  readonly model: Model
  readonly prefix: string
  /** The guards of routesConfig, which replaced routes keep. */
  readonly routesConfig: RegisteredPlugins['routesConfig']
  readonly scopes: ReadonlyMap<string, PermissionScope>
  /** The server's own routes, for those that extensions replace. */
  readonly generated: GeneratedResponder
}

/** The routes of extensions; no responders if there are no routes. */
export function openExtensionRoutes(
  routes: readonly ExtensionRoute[],
  options: ExtensionRouteOptions,
): ExtensionResponders {
  if (routes.length === 0) return { first: [], withMethods: responders => responders }
  const { prefix } = options
  const compiled = routes.map(route => compile(route, options)).toSorted(bySpecificity)
  const matching = (request: HttpRequest): readonly CompiledRoute[] => {
    const words = wordsBelow(request.path, prefix)
    return words ? compiled.filter(each => matches(each.words, words)) : []
  }
  const first: Responder = request => {
    const method = request.method === 'HEAD' ? 'GET' : request.method
    const found = matching(request).find(({ route }) => route.method === method)
    return found ? perform(found, request, options) : null
  }
  return {
    first: [first],
    withMethods: responders => [
      request => {
        const answer = firstAnswer(responders, request)
        if (answer !== null && request.method !== 'OPTIONS' && ROUTED.has(request.method)) return answer
        const found = matching(request)
        if (found.length === 0) return answer
        return answer === null
          ? answerMethod(request.method, allowed(found))
          : Promise.resolve(answer).then(each => withAllowed(each, allowed(found)))
      },
    ],
  }
}

/** Methods that most requests have; a path that has no PATCH answers with its other methods. */
const ROUTED: ReadonlySet<string> = new Set(['GET', 'HEAD'])

/** Adds the methods of extensions to those of the path's other routes. */
function withAllowed(answer: HttpResponse, methods: string): HttpResponse {
  const { Allow } = answer.headers ?? {}
  if (Allow === undefined) return answer
  const all = [...new Set(`${Allow}, ${methods}`.split(', '))]
  return { ...answer, headers: { ...answer.headers, Allow: all.join(', ') } }
}

function compile(route: ExtensionRoute, options: ExtensionRouteOptions): CompiledRoute {
  return {
    route,
    words: pathSegments(route.path),
    guard: compileGuard(guardedRoute(route, options), options, true),
  }
}

/** A route that replaces a generated one runs inside the permission, policies and middlewares of that one. */
function guardedRoute(
  { method, path, auth, hasAuth, policies, middlewares, replaces }: ExtensionRoute,
  { model, routesConfig, scopes }: ExtensionRouteOptions,
): GuardedRoute {
  const name = replaces ? generatedRouteName({ method, path }, model) : null
  if (name === null) {
    const info = { route: `${method} ${path}`, type: null, action: method.toLowerCase() }
    return { info, auth, own: null, policies, middlewares }
  }
  const [subject = '', action = ''] = name.split('.')
  const known = routesConfig.get(name)
  const type = [...model.contentTypes.values()].find(({ key, builtIn }) => !builtIn && key === subject)
  return {
    info: { route: name, type: type?.uid ?? null, action },
    auth: hasAuth ? auth : (known?.auth ?? auth),
    own: [...scopes.values()].find(scope => scope.subject === subject && scope.action === action) ?? null,
    policies: [...(known?.policies ?? []), ...policies],
    middlewares: [...(known?.middlewares ?? []), ...middlewares],
  }
}

/** Literal segments precede parameters, from the left: `/restaurants/nearest` before `/restaurants/:documentId`. */
function bySpecificity(a: CompiledRoute, b: CompiledRoute): number {
  const at = a.words.findIndex((word, index) => isName(word) !== isName(b.words[index] ?? ''))
  if (at < 0) return 0
  return isName(a.words[at] ?? '') ? 1 : -1
}

const isName = (word: string): boolean => word.startsWith(':')

const matches = (pattern: readonly string[], words: readonly string[]): boolean =>
  pattern.length === words.length &&
  pattern.every((word, at) =>
    isName(word) ? words[at] !== '' : word.toLowerCase() === words[at]?.toLowerCase(),
  )

function allowed(found: readonly CompiledRoute[]): string {
  const methods = new Set(found.map(({ route }) => route.method))
  return [...methods].flatMap(method => (method === 'GET' ? ['HEAD', 'GET'] : [method])).join(', ')
}

function perform(
  { route, words, guard }: CompiledRoute,
  request: HttpRequest,
  { prefix, generated }: ExtensionRouteOptions,
): Promise<HttpResponse> {
  request.route = `${route.method} ${route.path}`
  const args = routeArguments(pathParameters(words, wordsBelow(request.path, prefix) ?? []))
  return guard({
    request,
    args,
    handle: (current, caller, context) =>
      run(route, context, route.replaces ? async () => generated(current(), caller) : null),
  })
}

function pathParameters(
  pattern: readonly string[],
  words: readonly string[],
): Readonly<Record<string, string>> {
  const named = pattern.flatMap((word, at) =>
    isName(word) ? [[word.slice(1), decode(words[at] ?? '')]] : [],
  )
  return Object.fromEntries(named)
}

function decode(word: string): string {
  try {
    return decodeURIComponent(word)
  } catch (error) {
    if (error instanceof URIError) throw new RequestFault(fault('badRequest', 'failed to decode'))
    throw error
  }
}

type Generated = () => Promise<HttpResponse | null>

/** Unexpected errors get the place of the route as their last frame. */
async function run(
  route: ExtensionRoute,
  context: RestContext | null,
  generated: Generated | null,
): Promise<HttpResponse | null> {
  try {
    return await answer(route, context, generated)
  } catch (error) {
    if (!(error instanceof RequestFault)) addFrame(error, route.declaredAt)
    throw error
  }
}

/** null: the handler sent its answer through the context. `generated`: the route that this one replaces. */
async function answer(
  { handler, method, path, source }: ExtensionRoute,
  context: RestContext | null,
  generated: Generated | null,
): Promise<HttpResponse | null> {
  if (!context) throw new TypeError('a route of an extension has a context')
  const { request, response } = context.http
  // Answers to requests with credentials are private unless the handler sets another header.
  if (request.headers.authorization !== undefined) response.setHeader('Cache-Control', 'private')
  let passed: HttpResponse | null = null
  // The author names the type of the body.
  const next = async <Body>(): Promise<Body> => {
    if (!generated) throw new Error(`next() of ${method} ${path}: it has no replaces: true`)
    passed = await performGenerated(generated)
    return bodyOf(passed) as Body
  }
  const value = await handler(context, next)
  if (value !== undefined) {
    const body = toJsonBody(value, `the response of ${method} ${path} (${source})`)
    return toAnswer(body, passed, response.status)
  }
  return response.status === 0 ? (passed ?? { status: 204, body: null }) : null
}

/** Keeps status, headers and cookies of the generated answer, but not the tag of its text. */
function toAnswer(body: string, generated: HttpResponse | null, status: number): HttpResponse {
  const { etag: _, ...kept } = generated ?? { status: 200 }
  return { ...kept, status: status || kept.status, body, hasEtag: true }
}

/** Rejects if the action was refused, so that the handler does not take an error for a document. */
async function performGenerated(generated: Generated): Promise<HttpResponse> {
  const answer = await withPluginErrors(generated)
  if (answer === null) throw new RequestFault(notFound())
  if (answer.status < 400) return answer
  throw toPluginError(faultOfBody(bodyOf(answer)))
}

function bodyOf({ body }: HttpResponse): unknown {
  return body === null || body.length === 0 ? undefined : JSON.parse(String(body))
}
