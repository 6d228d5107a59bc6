import { fault, RequestFault } from '../faults/fault.ts'
import type { HttpRequest, HttpResponse, Responder } from '../faults/http-exchange.ts'
import type { ContentType, Model } from '../model/model.ts'
import type { RestContext } from '../plugins/context.ts'
import {
  compileGuard,
  type ExtensionRoute,
  type GuardTerms,
  pathSegments,
  type RouteGuard,
  routeShape,
} from '../plugins/route-guard.ts'
import { answerMethod } from './answer.ts'
import { routeArguments, wordsBelow } from './endpoint.ts'

interface CompiledRoute {
  readonly route: ExtensionRoute
  readonly words: readonly string[]
  readonly guard: RouteGuard
}

export interface ExtensionResponders {
  /** Answer the routes of extensions. They precede the content-types' routes, whose parameters could match the same path. */
  readonly first: readonly Responder[]
  /** Answer the allowed methods of paths that no other responder knows. */
  readonly last: readonly Responder[]
}

/** The routes of extensions; no responders if there are no routes. */
export function openExtensionRoutes(
  routes: readonly ExtensionRoute[],
  prefix: string,
  terms: GuardTerms,
): ExtensionResponders {
  if (routes.length === 0) return { first: [], last: [] }
  const compiled = routes.map(route => compile(route, terms)).toSorted(bySpecificity)
  const matching = (request: HttpRequest): readonly CompiledRoute[] => {
    const words = wordsBelow(request.path, prefix)
    return words ? compiled.filter(each => matches(each.words, words)) : []
  }
  const first: Responder = request => {
    const method = request.method === 'HEAD' ? 'GET' : request.method
    const found = matching(request).find(({ route }) => route.method === method)
    return found ? perform(found, request, prefix) : null
  }
  const last: Responder = request => {
    const found = matching(request)
    return found.length === 0 ? null : answerMethod(request.method, allowed(found))
  }
  return { first: [first], last: [last] }
}

function compile(route: ExtensionRoute, terms: GuardTerms): CompiledRoute {
  const { method, path, auth, policies, middlewares } = route
  const info = { route: `${method} ${path}`, type: null, action: method.toLowerCase() }
  const guard = compileGuard({ info, auth, own: null, policies, middlewares }, terms, true)
  return { route, words: pathSegments(path), guard }
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
  prefix: string,
): Promise<HttpResponse> {
  request.route = `${route.method} ${route.path}`
  const args = routeArguments(pathParameters(words, wordsBelow(request.path, prefix) ?? []))
  return guard({ request, args, handle: (_request, _caller, context) => run(route, context) })
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

/** null: the handler sent its answer through the context. */
async function run({ handler }: ExtensionRoute, context: RestContext | null): Promise<HttpResponse | null> {
  if (!context) throw new TypeError('a route of an extension has a context')
  const { request, response } = context.http
  // Answers to requests with credentials are private unless the handler sets another header.
  if (request.headers.authorization !== undefined) response.setHeader('Cache-Control', 'private')
  const value = await handler(context)
  if (value !== undefined) response.send(value)
  return response.status === 0 ? { status: 204, body: null } : null
}

interface Claim {
  readonly source: string
  readonly method: string
  readonly path: string
}

/** One message for each extension route that another route or the API already has. */
export function findRouteConflicts(routes: readonly ExtensionRoute[], model: Model): readonly string[] {
  const taken = new Map(builtInClaims(model).map(claim => [claimKey(claim), claim]))
  const faults: string[] = []
  for (const route of routes) {
    const other = taken.get(claimKey(route))
    if (other)
      faults.push(
        `${route.source}: the route ${route.method} ${route.path} is there already: ${other.path} of ${other.source}`,
      )
    else taken.set(claimKey(route), route)
  }
  return faults
}

const claimKey = ({ method, path }: Claim): string => `${method} ${routeShape(path)}`

const claims = (source: string, path: string, methods: string): readonly Claim[] =>
  methods.split(' ').map(method => ({ source, method, path }))

const builtInClaims = (model: Model): readonly Claim[] => [
  ...[...model.contentTypes.values()].filter(type => !type.builtIn).flatMap(claimsOfType),
  ...BUILT_IN.flatMap(([path, methods]) => claims('the server itself', path, methods)),
]

function claimsOfType({ uid, kind, key, pluralApiId }: ContentType) {
  if (kind === 'single') return claims(uid, `/${key}`, 'GET PUT DELETE')
  return [
    ...claims(uid, `/${pluralApiId}`, 'GET POST'),
    ...claims(uid, `/${pluralApiId}/:documentId`, 'GET PUT DELETE'),
  ]
}

/** Paths of the built-in responders. */
const BUILT_IN: readonly (readonly [string, string])[] = [
  ['/auth/local', 'POST'],
  ['/auth/local/register', 'POST'],
  ['/auth/change-password', 'POST'],
  ['/auth/forgot-password', 'POST'],
  ['/auth/reset-password', 'POST'],
  ['/auth/send-email-confirmation', 'POST'],
  ['/auth/email-confirmation', 'GET'],
  ['/users', 'GET POST'],
  ['/users/count', 'GET'],
  ['/users/me', 'GET'],
  ['/users/:id', 'GET PUT DELETE'],
  ['/users-permissions/roles', 'GET'],
  ['/users-permissions/roles/:id', 'GET'],
  ['/users-permissions/permissions', 'GET'],
  ['/i18n/locales', 'GET'],
  ['/upload', 'POST'],
  ['/upload/files', 'GET'],
  ['/upload/files/:id', 'GET DELETE'],
]
