import { type Action, subjectOf } from '../access/actions.ts'
import type { Caller } from '../access/caller.ts'
import { deniedType } from '../access/denial.ts'
import { createPrefetch, type VersionPrefetch } from '../cache/versions.ts'
import { withWrites } from '../database/request-scope.ts'
import {
  type HttpRequest,
  type HttpResponse,
  isSafeMethod,
  refusalResponse,
  toFaultResponse,
} from '../faults/http-exchange.ts'
import type { GuardedRequest } from '../plugins/route-guard.ts'
import type { DocumentAction } from '../plugins/services/documents-api.ts'
import { answerMethod } from './answer.ts'
import { type GeneratedResponder, routeArguments } from './endpoint.ts'
import { getDocument, getList, performAction } from './perform-action.ts'
import type { RestCall, RestOptions } from './rest-call.ts'
import { ALLOWED_METHODS, compileRoutes, ROUTE_ACTIONS, type Route } from './routes.ts'
import { fromStrapi4, isStrapi4Request } from './strapi4.ts'
import { isFormSave, saveForm } from './strapi4-form.ts'

/** The content API over REST: route → caller → permission → query → documents (reference/rest.md#2-errors, "Order of checks"). */
export function openRest(options: RestOptions): GeneratedResponder {
  const find = compileRoutes(options.model, options.settings.prefix)
  return (request, acting) => {
    const route = find(request.path)
    if (!route) return null
    if (route.ok && BELOW.has(route.value.kind) && isRead(request)) return null
    if (route.ok && acting) return performAs(acting, { request, route: route.value }, options)
    if (route.ok) return dispatch(request, route.value, options)
    return route.reasons[0] ? toFaultResponse(route.reasons[0]) : null
  }
}

/** Paths below a document's or a single type's. */
const BELOW: ReadonlySet<Route['kind']> = new Set(['nested', 'change', 'localization'])

const isRead = ({ method }: HttpRequest): boolean => method === 'GET' || method === 'HEAD'

function dispatch(
  request: HttpRequest,
  route: Route,
  options: RestOptions,
): HttpResponse | Promise<HttpResponse> {
  // Only Strapi 4 has this path.
  const isUnknown = route.kind === 'localization' && !isStrapi4Request(request, options.settings)
  const kind = isUnknown ? 'nested' : route.kind
  const action = ROUTE_ACTIONS[kind][request.method]
  return action
    ? perform(action, { request, route }, options)
    : answerMethod(request.method, ALLOWED_METHODS[kind])
}

/** The generated action inside a route of an extension that replaces it. */
function performAs(
  caller: Caller,
  { request, route }: Omit<RestCall, 'caller'>,
  options: RestOptions,
): Promise<HttpResponse> | null {
  const action = ROUTE_ACTIONS[route.kind][request.method]
  return action ? handle(action, { request, route, caller }, options) : null
}

async function perform(
  action: Action,
  { request, route }: Omit<RestCall, 'caller'>,
  options: RestOptions,
): Promise<HttpResponse> {
  request.route = `${route.type.key}.${action}`
  const guard = options.guards?.get(subjectOf(route.type))?.get(action)
  if (guard) {
    const args = routeArguments(route.documentId === null ? {} : { documentId: route.documentId })
    const answerGuarded: GuardedRequest['handle'] = (current, caller) =>
      handle(action, { request: current(), route, caller }, options).catch(refusalResponse)
    return tracked(request, () => guard({ request, args, handle: answerGuarded }))
  }
  const prefetch = openPrefetch(request, options)
  const caller = await options.identify(request.headers.authorization, prefetch)
  request.identified = caller
  if (!caller.grants.allows(subjectOf(route.type), action)) throw deniedType(caller, route.type, action)
  return handle(action, { request, route, caller, prefetch }, options)
}

/** Not with document middlewares: project code may write before it reads, which makes the prefetched check stale. */
const openPrefetch = (request: HttpRequest, { runMiddlewares }: RestOptions): VersionPrefetch | undefined =>
  request.headers.authorization !== undefined && isRead(request) && !runMiddlewares
    ? createPrefetch(`${request.path}?${request.search}`)
    : undefined

function handle(action: Action, call: RestCall, options: RestOptions): Promise<HttpResponse> {
  if (!isStrapi4Request(call.request, options.settings)) return performIn(call, action, options)
  if (isFormSave(call.request))
    return tracked(call.request, () => saveForm(call, options, saved => performIn(saved, action, options)))
  return fromStrapi4(call, options).then(translated => performIn(translated, action, options))
}

function performIn(call: RestCall, action: Action, options: RestOptions): Promise<HttpResponse> {
  const performed = documentAction(action, call)
  if (options.runMiddlewares) return tracked(call.request, () => performAction(performed, call, options))
  if (performed === 'findMany') return getList(call, options)
  return performed === 'findOne' ? getDocument(call, options) : performAction(performed, call, options)
}

/** Tracks writes: project code may write more than the request asks for. */
const tracked = (
  { method, writes }: HttpRequest,
  work: () => Promise<HttpResponse>,
): Promise<HttpResponse> => (isSafeMethod(method) ? work() : withWrites(writes, work))

/** The name of the action in the documents API. */
function documentAction(action: Action, { route }: RestCall): DocumentAction {
  if (route.change) return route.change
  if (route.kind === 'localization') return 'update'
  if (action === 'find') return route.kind === 'collection' ? 'findMany' : 'findOne'
  return action as DocumentAction
}
