import type { Action } from '../../access/actions.ts'
import { forbidden, RequestFault } from '../../faults/fault.ts'
import {
  type HttpRequest,
  type HttpResponse,
  type Responder,
  refusalResponse,
} from '../../faults/http-exchange.ts'
import { answerMethod } from '../answer.ts'
import { routeArguments } from '../endpoint.ts'
import { getFile, getFiles, type UploadCall, type UploadTerms } from './read-files.ts'
import { deleteFile, postUpload } from './write-files.ts'

/** Files over REST: route → caller → permission → form or query → files, documents. */
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

interface UploadRequest {
  readonly request: HttpRequest
  readonly route: UploadRoute
}

async function perform(
  action: Action,
  { request, route }: UploadRequest,
  terms: UploadTerms,
): Promise<HttpResponse> {
  const guard = terms.guards?.get('upload')?.get(guardedAction(action, request))
  if (guard) {
    const args = routeArguments(route.kind === 'file' ? { id: route.id } : {})
    return guard({
      request,
      args,
      // Middlewares see a refusal as a response.
      handle: (request, caller) => handle(action, { request, route, caller }, terms).catch(refusalResponse),
    })
  }
  const caller = await terms.identify(request.headers.authorization)
  return handle(action, { request, route, caller }, terms)
}

/** A POST with `?id=` updates a file; without it uploads new ones. */
const guardedAction = (action: Action, { search }: HttpRequest): Action =>
  action === 'upload' && routeArguments({})(search).id !== undefined ? 'update' : action

async function handle(
  action: Action,
  { route, ...call }: UploadRequest & UploadCall,
  terms: UploadTerms,
): Promise<HttpResponse> {
  if (route.kind === 'upload') return postUpload(call, terms)
  if (!call.caller.grants.allows('upload', action)) throw new RequestFault(forbidden())
  if (route.kind === 'files') return getFiles(call, terms)
  return action === 'delete' ? deleteFile(route.id, call, terms) : getFile(route.id, call, terms)
}

/** A path of the file API (reference/rest.md#15-upload). */
type UploadRoute =
  | { readonly kind: 'upload' }
  | { readonly kind: 'files' }
  /** `id` is not parsed. */
  | { readonly kind: 'file'; readonly id: string }

/** The action of each method; a POST with `?id=` needs `update` instead. */
const UPLOAD_ACTIONS: Readonly<Record<UploadRoute['kind'], Readonly<Record<string, Action>>>> = {
  upload: { POST: 'upload' },
  files: { GET: 'find', HEAD: 'find' },
  file: { GET: 'findOne', HEAD: 'findOne', DELETE: 'delete' },
}

const UPLOAD_ALLOW: Readonly<Record<UploadRoute['kind'], string>> = {
  upload: 'POST',
  files: 'HEAD, GET',
  file: 'HEAD, GET, DELETE',
}

/** null: not a path of files. Paths are case-insensitive and may end with one slash. */
function findUploadRoute(path: string, prefix: string): UploadRoute | null {
  const start = `${prefix}/upload`.toLowerCase()
  const trimmed = path.endsWith('/') ? path.slice(0, -1) : path
  if (!trimmed.toLowerCase().startsWith(start)) return null
  const rest = trimmed.slice(start.length)
  if (rest === '') return { kind: 'upload' }
  const [, words, id] = /^\/(files)(?:\/([^/]+))?$/i.exec(rest) ?? []
  if (words === undefined) return null
  return id === undefined ? { kind: 'files' } : { kind: 'file', id }
}
