import { isDeepStrictEqual } from 'node:util'
import type { Caller } from '../access/caller.ts'
import { toCodeError } from '../database/request-fault.ts'
import type { ContentType } from '../model/model.ts'
import { abilityCaller } from '../plugins/ability.ts'
import type { AnyTerms } from '../plugins/document-types.ts'
import type {
  DocumentAction,
  DocumentActions,
  DocumentsApi,
  RunDocumentMiddlewares,
} from '../plugins/services/documents-api.ts'
import type { ActionCall, DocumentsTerms, Params, PrepareAction } from './action-call.ts'
import { checkParams, findType } from './check-params.ts'
import { prepareCount, prepareFindFirst, prepareFindMany, prepareFindOne } from './reads.ts'
import { prepareDelete, prepareDiscardDraft, preparePublish, prepareUnpublish } from './versions.ts'
import { prepareCreate, prepareUpdate } from './writes.ts'

export interface DocumentsApiTerms extends DocumentsTerms {
  /** The document middlewares; null: none. */
  readonly around: RunDocumentMiddlewares | null
}

/** Opens `app.documents`, the documents API of project and plugin code. */
export function openDocumentsApi(terms: DocumentsApiTerms): DocumentsApi {
  const api = (name: string) => actionsOf({ type: findType(name, terms.model), caller: null, terms })
  // The types of documents are generated per project; here only the model's names are known.
  return api as unknown as DocumentsApi
}

interface ApiScope {
  readonly type: ContentType
  readonly caller: Caller | null
  readonly terms: DocumentsApiTerms
}

type Action = (params?: unknown) => Promise<unknown>

/** The actions of a content-type. Their value types are generated per project, hence the cast. */
function actionsOf(scope: ApiScope): DocumentActions<AnyTerms> {
  const names = Object.keys(DOCUMENT_ACTIONS) as DocumentAction[]
  const as: DocumentActions<AnyTerms>['as'] = who =>
    actionsOf({ ...scope, caller: 'grants' in who ? who : abilityCaller(who) })
  const actions = names.map((name): [string, Action] => [name, params => performForCode(name, params, scope)])
  return { ...Object.fromEntries(actions), as } as unknown as DocumentActions<AnyTerms>
}

/** Converts database errors to the errors that code expects. */
const performForCode: typeof perform = (action, given, scope) =>
  perform(action, given, scope).catch(error => {
    throw toCodeError(error)
  })

/** Checks parameters, prepares the action and performs it, inside the document middlewares. */
async function perform(
  action: DocumentAction,
  given: unknown,
  { terms, ...scope }: ApiScope,
): Promise<unknown> {
  const { params: known, prepare } = DOCUMENT_ACTIONS[action]
  const check = (raw: unknown): Params => checkParams(raw, known, action)
  const params = check(given)
  const call: ActionCall = { ...scope, terms, original: null }
  if (!terms.around) return prepare(params, call)()
  // The caller's own parameters are authorized before middlewares run.
  const prepared = call.caller && prepare(params, call)
  return terms.around({
    type: call.type,
    action,
    params,
    async perform(changed) {
      if (prepared && isDeepStrictEqual(changed, params)) return prepared()
      return prepare(check(changed), { ...call, original: call.caller && params })()
    },
  })
}

/** The known parameters of an action, and its preparation. */
interface ActionTerms {
  readonly params: readonly string[]
  readonly prepare: PrepareAction
}

const ANSWER = ['populate', 'fields']
const FIND = ['filters', '_q', 'publicationFilter', 'hasPublishedVersion', 'status', 'locale']
const VERSIONS = ['documentId', 'locale', ...ANSWER]

const DOCUMENT_ACTIONS: Readonly<Record<DocumentAction, ActionTerms>> = {
  findMany: {
    params: [...FIND, ...ANSWER, 'sort', 'pagination', 'start', 'limit'],
    prepare: prepareFindMany,
  },
  findFirst: { params: [...FIND, ...ANSWER, 'sort'], prepare: prepareFindFirst },
  findOne: { params: ['documentId', 'status', 'locale', ...ANSWER], prepare: prepareFindOne },
  count: { params: FIND, prepare: prepareCount },
  create: { params: ['data', 'status', 'locale', ...ANSWER], prepare: prepareCreate },
  update: { params: ['documentId', 'data', 'status', 'locale', ...ANSWER], prepare: prepareUpdate },
  delete: { params: VERSIONS, prepare: prepareDelete },
  publish: { params: VERSIONS, prepare: preparePublish },
  unpublish: { params: VERSIONS, prepare: prepareUnpublish },
  discardDraft: { params: VERSIONS, prepare: prepareDiscardDraft },
}
