import type { Action, BuiltInSubject } from '../access/actions.ts'
import type { Caller } from '../access/caller.ts'
import { answerFault, type HttpAnswer, type HttpRequest, type Responder } from '../faults/exchange.ts'
import { forbidden } from '../faults/fault.ts'
import type { Identify } from '../identity/identify.ts'
import type { RouteGuards } from '../plugins/guards.ts'
import { answerMethod } from './answer.ts'
import { argsOf } from './args-of.ts'

/** One request of an endpoint by a caller who may do what it asks. */
export interface EndpointVisit {
  readonly request: HttpRequest
  readonly caller: Caller
  /** What stood in the path for `:id`, as it was written; empty where nothing does. */
  readonly id: string
}

/** What a method does on a path, and the permission that it needs. */
export interface Endpoint {
  readonly subject: BuiltInSubject
  readonly action: Action
  perform(visit: EndpointVisit): Promise<HttpAnswer>
}

/** By path below the prefix, in small letters; `:id` is one word of any kind. By method. */
export type Endpoints = Readonly<Record<string, Readonly<Record<string, Endpoint>>>>

export interface EndpointTerms {
  readonly prefix: string
  readonly identify: Identify
  readonly guards?: RouteGuards | undefined
}

/** Endpoints outside the content API: path → method → caller → permission. Capitals and one slash at the end do not matter. */
export function openEndpoints(endpoints: Endpoints, terms: EndpointTerms): Responder {
  return request => {
    const words = wordsBelow(request.path, terms.prefix)
    const found = words && findEndpoints(words, endpoints)
    if (!found) return null
    const { methods, id } = found
    const endpoint = methods[request.method === 'HEAD' ? 'GET' : request.method]
    return endpoint
      ? perform(endpoint, { request, id }, terms)
      : answerMethod(request.method, allowed(methods))
  }
}

/** Asks who has the path's first word below the prefix, in small letters: most requests are for none of them. */
export function byFirstWord(prefix: string, responders: Readonly<Record<string, Responder>>): Responder {
  const known = new Map(Object.entries(responders))
  return request => known.get(firstBelow(request.path, prefix))?.(request) ?? null
}

/** Empty: none, or not below the prefix. */
function firstBelow(path: string, prefix: string): string {
  const start = prefix.length + 1
  if (path[prefix.length] !== '/' || path.slice(0, prefix.length).toLowerCase() !== prefix.toLowerCase())
    return ''
  const end = path.indexOf('/', start)
  return path.slice(start, end < 0 ? undefined : end).toLowerCase()
}

/** null: not below the prefix. */
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

/** In the reference's order: HEAD goes before GET. */
const allowed = (methods: Readonly<Record<string, Endpoint>>): string =>
  Object.keys(methods)
    .flatMap(method => (method === 'GET' ? ['HEAD', 'GET'] : [method]))
    .join(', ')

async function perform(
  { subject, action, perform }: Endpoint,
  asked: Omit<EndpointVisit, 'caller'>,
  { identify, guards }: EndpointTerms,
): Promise<HttpAnswer> {
  asked.request.route = `${subject}.${action}`
  const guard = guards?.get(subject)?.get(action)
  if (guard) {
    const { request, id } = asked
    const args = argsOf(id === '' ? {} : { id })
    return guard({ request, args, handle: (request, caller) => perform({ request, id, caller }) })
  }
  const caller = await identify(asked.request.headers.authorization)
  if (!caller.ok) return answerFault(caller.reasons[0] ?? forbidden())
  if (!caller.value.grants.allows(subject, action)) return answerFault(forbidden())
  return perform({ ...asked, caller: caller.value })
}
