import type { Action } from '../access/actions.ts'
import { answerFault, type HttpAnswer, type HttpRequest, type Responder } from '../faults/exchange.ts'
import { forbidden } from '../faults/fault.ts'
import { answerMethod } from './answer.ts'
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
  const caller = await terms.identify(request.headers.authorization)
  if (!caller.ok) return answerFault(caller.reasons[0] ?? forbidden())
  const visit: UploadVisit = { request, caller: caller.value }
  // Whether it uploads or updates, its query has to tell.
  if (route.kind === 'upload') return upload(visit, terms)
  if (!caller.value.grants.allows('upload', action)) return answerFault(forbidden())
  if (route.kind === 'files') return findFiles(visit, terms)
  return action === 'delete' ? removeFile(route.id, visit, terms) : findFile(route.id, visit, terms)
}
