import type { Action } from '../../access/actions.ts'
import { answerFault, type HttpAnswer, type HttpRequest, type Responder } from '../../faults/exchange.ts'
import { forbidden } from '../../faults/fault.ts'
import { answerMethod } from '../answer.ts'
import { argsOf } from '../args-of.ts'
import { findFile, findFiles } from './upload-read.ts'
import { findUploadRoute, UPLOAD_ACTIONS, UPLOAD_ALLOW, type UploadRoute } from './upload-routes.ts'
import type { UploadTerms, UploadVisit } from './upload-visit.ts'
import { removeFile, upload } from './upload-write.ts'

/** The files' API over REST: route → caller → permission → form or query → files, documents. */
export function openUploads(terms: UploadTerms): Responder {
  return request => {
    const route = findUploadRoute(request.path, terms.settings.prefix)
    if (!route) return null
    const action = UPLOAD_ACTIONS[route.kind][request.method]
    return action
      ? perform(action, { request, route }, terms)
      : answerMethod(request.method, UPLOAD_ALLOW[route.kind])
  }
}

interface Asked {
  readonly request: HttpRequest
  readonly route: UploadRoute
}

async function perform(action: Action, { request, route }: Asked, terms: UploadTerms): Promise<HttpAnswer> {
  const guard = terms.guards?.get('upload')?.get(actionOf(action, request))
  if (guard) {
    const args = argsOf(route.kind === 'file' ? { id: route.id } : {})
    return guard({
      request,
      args,
      handle: (request, caller) => answer(action, { request, route, caller }, terms),
    })
  }
  const caller = await terms.identify(request.headers.authorization)
  if (!caller.ok) return answerFault(caller.reasons[0] ?? forbidden())
  return answer(action, { request, route, caller: caller.value }, terms)
}

/** Whether it uploads or updates, its query has to tell. */
const actionOf = (action: Action, { search }: HttpRequest): Action =>
  action === 'upload' && argsOf({})(search).id !== undefined ? 'update' : action

async function answer(
  action: Action,
  { route, ...visit }: Asked & UploadVisit,
  terms: UploadTerms,
): Promise<HttpAnswer> {
  if (route.kind === 'upload') return upload(visit, terms)
  if (!visit.caller.grants.allows('upload', action)) return answerFault(forbidden())
  if (route.kind === 'files') return findFiles(visit, terms)
  return action === 'delete' ? removeFile(route.id, visit, terms) : findFile(route.id, visit, terms)
}
