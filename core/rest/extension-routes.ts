import type { HttpAnswer, HttpRequest, Responder } from '../faults/exchange.ts'
import { fault, RequestFault } from '../faults/fault.ts'
import type { RestContext } from '../plugins/context.ts'
import { type ExtensionRoute, wordsOf } from '../plugins/extension-route.ts'
import { compileGuard, type GuardTerms, type RouteGuard } from '../plugins/route-guard.ts'
import { answerMethod } from './answer.ts'
import { argsOf } from './args-of.ts'
import { wordsBelow } from './endpoint.ts'

interface CompiledRoute {
  readonly route: ExtensionRoute
  readonly words: readonly string[]
  readonly guard: RouteGuard
}

export interface ExtensionResponders {
  /** Take requests of extensions' routes; come before the routes of content-types, which may have a name in the same place. */
  readonly first: readonly Responder[]
  /** Tell which methods a path of theirs has that nobody else knows. */
  readonly last: readonly Responder[]
}

/** The routes of extensions. Without any, nobody is asked. */
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
    return found ? visit(found, request, prefix) : null
  }
  const last: Responder = request => {
    const found = matching(request)
    return found.length === 0 ? null : answerMethod(request.method, allowed(found))
  }
  return { first: [first], last: [last] }
}

function compile(route: ExtensionRoute, terms: GuardTerms): CompiledRoute {
  const { method, path, door, policies, middlewares } = route
  const info = { route: `${method} ${path}`, type: null, action: method.toLowerCase() }
  const guard = compileGuard({ info, door, own: null, policies, middlewares }, terms, true)
  return { route, words: wordsOf(path), guard }
}

/** Words before names, from the left: `/restaurants/nearest` is asked before `/restaurants/:documentId`. */
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

function visit(
  { route, words, guard }: CompiledRoute,
  request: HttpRequest,
  prefix: string,
): Promise<HttpAnswer> {
  request.route = `${route.method} ${route.path}`
  const args = argsOf(namesIn(words, wordsBelow(request.path, prefix) ?? []))
  return guard({ request, args, handle: (_request, _caller, context) => run(route, context) })
}

function namesIn(pattern: readonly string[], words: readonly string[]): Readonly<Record<string, string>> {
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

/** Null: the answer is in the context. */
async function run({ handler }: ExtensionRoute, context: RestContext | null): Promise<HttpAnswer | null> {
  if (!context) throw new TypeError('a route of an extension has a context')
  const { request, response } = context.http
  // What credentials opened is for their owner alone, unless the handler says otherwise.
  if (request.headers.authorization !== undefined) response.setHeader('Cache-Control', 'private')
  const value = await handler(context)
  if (value !== undefined) response.send(value)
  return response.status === 0 ? { status: 204, body: null } : null
}
