import { type Action, subjectOf } from '../access/actions.ts'
import { type Ahead, openAhead } from '../cache/version-prefetch.ts'
import { withWrites } from '../database/generations/write-storage.ts'
import {
  answerFault,
  type HttpAnswer,
  type HttpRequest,
  isReading,
  type Responder,
} from '../faults/exchange.ts'
import { fault, forbidden } from '../faults/fault.ts'
import type { GuardedVisit } from '../plugins/route-guard.ts'
import type { DocumentAction } from '../plugins/services/documents-api.ts'
import { answerMethod } from './answer.ts'
import { argsOf } from './args-of.ts'
import { type Handler, performAround } from './around.ts'
import { findMany, findOne } from './read.ts'
import type { RestTerms, Visit } from './request-visit.ts'
import { ACTIONS, ALLOW, compileRoutes, type Route } from './routes.ts'
import { create, remove, update } from './write.ts'

const HANDLERS: { readonly [Name in Action]?: Handler } = {
  find: (visit, terms) => (visit.route.kind === 'collection' ? findMany : findOne)(visit, terms),
  findOne,
  create,
  update,
  delete: remove,
}

/** The content API over REST: route → caller → permission → query → documents (contract/rest.md 2, "Order of checks"). */
export function openRest(terms: RestTerms): Responder {
  const find = compileRoutes(terms.model, terms.settings.prefix)
  return request => {
    const route = find(request.path)
    if (!route) return null
    if (route.ok && route.value.kind === 'beneath' && isRead(request)) return null
    if (route.ok) return visit(request, route.value, terms)
    return route.reasons[0] ? answerFault(route.reasons[0]) : null
  }
}

const isRead = ({ method }: HttpRequest): boolean => method === 'GET' || method === 'HEAD'

function visit(request: HttpRequest, route: Route, terms: RestTerms): HttpAnswer | Promise<HttpAnswer> {
  const action = ACTIONS[route.kind][request.method]
  return action ? perform(action, { request, route }, terms) : answerMethod(request.method, ALLOW[route.kind])
}

async function perform(
  action: Action,
  { request, route }: Omit<Visit, 'caller'>,
  terms: RestTerms,
): Promise<HttpAnswer> {
  request.route = `${route.type.key}.${action}`
  const guard = terms.guards?.get(subjectOf(route.type))?.get(action)
  if (guard) {
    const args = argsOf(route.documentId === null ? {} : { documentId: route.documentId })
    const handle: GuardedVisit['handle'] = (request, caller) =>
      answer(action, { request, route, caller }, terms)
    return tracked(request, () => guard({ request, args, handle }))
  }
  const ahead = aheadOf(request, terms)
  const caller = await terms.identify(request.headers.authorization, ahead)
  if (!caller.ok) return answerFault(caller.reasons[0] ?? forbidden())
  if (!caller.value.grants.allows(subjectOf(route.type), action)) return answerFault(forbidden())
  return answer(action, { request, route, caller: caller.value, ahead }, terms)
}

/** Code of the project may write before it reads. */
const aheadOf = (request: HttpRequest, { around }: RestTerms): Ahead | undefined =>
  request.headers.authorization !== undefined && isRead(request) && !around
    ? openAhead(`${request.path}?${request.search}`)
    : undefined

function answer(action: Action, visit: Visit, terms: RestTerms): Promise<HttpAnswer> {
  const handler = HANDLERS[action]
  if (!handler) return Promise.resolve(answerFault(fault('notImplemented', 'Not Implemented')))
  const { around } = terms
  if (!around) return handler(visit, terms)
  const middlewares = { action: documentAction(action, visit), handler, around, terms }
  return tracked(visit.request, () => performAround(visit, middlewares))
}

/** Code of the project may write more than what the request asks for. */
const tracked = ({ method, writes }: HttpRequest, work: () => Promise<HttpAnswer>): Promise<HttpAnswer> =>
  isReading(method) ? work() : withWrites(writes, work)

/** What code calls it. */
function documentAction(action: Action, { route }: Visit): DocumentAction {
  if (action === 'find') return route.kind === 'collection' ? 'findMany' : 'findOne'
  return action as DocumentAction
}
