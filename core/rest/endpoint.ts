import type { Action, BuiltInSubject } from '../access/actions.ts'
import type { Caller } from '../access/caller.ts'
import { denied } from '../access/denial.ts'
import type { Params } from '../actions/action-params.ts'
import { INTEGER } from '../base/integers.ts'
import { attempt, fault, RequestFault } from '../faults/fault.ts'
import {
  type HttpRequest,
  type HttpResponse,
  isSafeMethod,
  type Responder,
  refusalResponse,
} from '../faults/http-exchange.ts'
import type { Identify } from '../identity/identify.ts'
import type { RouteGuards } from '../plugins/register.ts'
import type { RouteArguments } from '../plugins/services/shared-query.ts'
import { answerMethod } from './answer.ts'
import { parseWithNulls } from './parse-query-string.ts'

/**
 * A responder of the server's own routes. With `acting` an extension that replaces the route has done auth, policies and
 * middlewares already, and the route performs its action for this caller.
 */
export type GeneratedResponder = (request: HttpRequest, acting?: Caller) => ReturnType<Responder>

/** One request of an endpoint by a caller who has its permission. */
export interface EndpointCall {
  readonly request: HttpRequest
  readonly caller: Caller
  /** The path's value of `:id`, not parsed; empty if the path has none. */
  readonly id: string
}

/** The handler of a method on a path, and the permission it requires. */
export interface RestEndpoint {
  readonly subject: BuiltInSubject
  readonly action: Action
  perform(call: EndpointCall): Promise<HttpResponse>
}

/** Endpoints by lower-case path below the prefix, then by method. `:id` matches one segment. */
export type Endpoints = Readonly<Record<string, Readonly<Record<string, RestEndpoint>>>>

export interface EndpointOptions {
  readonly prefix: string
  readonly identify: Identify
  readonly guards?: RouteGuards | undefined
}

/** Endpoints outside the content API: path → method → caller → permission. Paths are case-insensitive and may end with one slash. */
export function openEndpoints(endpoints: Endpoints, options: EndpointOptions): GeneratedResponder {
  return (request, acting) => {
    const words = wordsBelow(request.path, options.prefix)
    const found = words && findEndpoints(words, endpoints)
    if (!found) return null
    const { methods, id } = found
    const endpoint = methods[request.method === 'HEAD' ? 'GET' : request.method]
    if (endpoint && acting) return run(endpoint, { request, id, caller: acting })
    return endpoint
      ? perform(endpoint, { request, id }, options)
      : answerMethod(request.method, allowed(methods))
  }
}

/** Selects the responder by the path's first segment below the prefix, so that most requests skip all of them. */
export function byFirstWord(
  prefix: string,
  responders: Readonly<Record<string, GeneratedResponder>>,
): GeneratedResponder {
  const known = new Map(Object.entries(responders))
  return (request, acting) => known.get(firstBelow(request.path, prefix))?.(request, acting) ?? null
}

/** The first segment below the prefix, in lower case; empty if there is none. */
function firstBelow(path: string, prefix: string): string {
  const start = prefix.length + 1
  if (path[prefix.length] !== '/' || path.slice(0, prefix.length).toLowerCase() !== prefix.toLowerCase())
    return ''
  const end = path.indexOf('/', start)
  return path.slice(start, end < 0 ? undefined : end).toLowerCase()
}

/** The segments below the prefix; null: the path is not below it. */
export function wordsBelow(path: string, prefix: string): readonly string[] | null {
  const start = `${prefix}/`.toLowerCase()
  if (path.slice(0, start.length).toLowerCase() !== start) return null
  const rest = path.slice(start.length)
  return (rest.endsWith('/') ? rest.slice(0, -1) : rest).split('/')
}

function findEndpoints(words: readonly string[], endpoints: Endpoints) {
  const exact = words.join('/').toLowerCase()
  if (Object.hasOwn(endpoints, exact)) return { methods: endpoints[exact] ?? {}, id: '' }
  const id = words.at(-1) ?? ''
  const pattern = [...words.slice(0, -1), ':id'].join('/').toLowerCase()
  return id !== '' && Object.hasOwn(endpoints, pattern) ? { methods: endpoints[pattern] ?? {}, id } : null
}

/** The value of `Allow`: HEAD precedes GET, as in Strapi. */
const allowed = (methods: Readonly<Record<string, RestEndpoint>>): string =>
  Object.keys(methods)
    .flatMap(method => (method === 'GET' ? ['HEAD', 'GET'] : [method]))
    .join(', ')

async function perform(
  endpoint: RestEndpoint,
  call: Omit<EndpointCall, 'caller'>,
  { identify, guards }: EndpointOptions,
): Promise<HttpResponse> {
  const { subject, action } = endpoint
  call.request.route = `${subject}.${action}`
  const guard = guards?.get(subject)?.get(action)
  if (guard) {
    const { request, id } = call
    const args = routeArguments(id === '' ? {} : { id })
    // Middlewares see a refusal as a response.
    return guard({
      request,
      args,
      handle: (current, caller) => run(endpoint, { request: current(), id, caller }).catch(refusalResponse),
    })
  }
  const caller = await identify(call.request.headers.authorization)
  call.request.identified = caller
  if (!caller.grants.allows(subject, action)) throw denied(caller, subject, action)
  return run(endpoint, { ...call, caller })
}

async function run(endpoint: RestEndpoint, call: EndpointCall): Promise<HttpResponse> {
  refuseConditions(call.request)
  return endpoint.perform(call)
}

type Condition = 'If-Match' | 'If-None-Match'

/**
 * Throws a RequestFault for conditions of a write that are not evaluated: its client relies on them, so that the write must not
 * happen (RFC 9110, 13.2.1).
 */
export function refuseConditions(
  { method, headers }: Pick<HttpRequest, 'method' | 'headers'>,
  refused: readonly Condition[] = ['If-Match', 'If-None-Match'],
): void {
  if (isSafeMethod(method)) return
  const name = refused.find(each => headers[each.toLowerCase()] !== undefined)
  if (name)
    throw new RequestFault(
      fault('badRequest', `${name} is not evaluated by ${method} of this path: send the request without it`),
    )
}

/** Parameters as plugins see them: null without `=`. A malformed query string yields none; its route refuses it. */
export const routeArguments = (named: RouteArguments['named']): RouteArguments => ({
  named,
  parse: parseForPlugins,
})

function parseForPlugins(search: string): Params | null {
  const parsed = attempt(() => parseWithNulls(search))
  return parsed.ok ? parsed.value : null
}

/** No row has this id, so an id out of range finds nothing without a special case. */
const NO_ID = 0

/** Parses the numeric row id of a file, user or role, or throws a RequestFault (reference/rest.md#17-differences-from-strapi, section 18). */
export function parseRowId(word: unknown): number {
  if (typeof word !== 'string' || !/^\d{1,20}$/.test(word)) {
    const details = { key: 'id', expected: 'a number' }
    throw new RequestFault(fault('validation', 'Invalid id: expected a number', details))
  }
  const id = Number(word)
  return id <= INTEGER.most ? id : NO_ID
}
