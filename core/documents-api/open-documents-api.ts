import type { Caller } from '../access/caller.ts'
import type { ActionTerms } from '../actions/action-call.ts'
import { perform, toValue, withPluginErrors } from '../actions/perform.ts'
import { toCodeError } from '../database/request-fault.ts'
import type { ContentType } from '../model/model.ts'
import { abilityCaller } from '../plugins/ability.ts'
import type { AnyTerms } from '../plugins/document-types.ts'
import type { DocumentAction, DocumentActions, DocumentsApi } from '../plugins/services/documents-api.ts'
import { findType } from './check-params.ts'
import { CODE_RULES, checkActionParams, DOCUMENT_ACTIONS, unlimitedSettings } from './code-params.ts'

/** Opens `app.documents`, the documents API of project and plugin code. */
export function openDocumentsApi(terms: Omit<ActionTerms, 'rules'>): DocumentsApi {
  const actionTerms = { ...terms, settings: unlimitedSettings(terms.settings), rules: CODE_RULES }
  const api = (name: string) =>
    actionsOf({ type: findType(name, terms.model), caller: null, terms: actionTerms })
  // The types of documents are generated per project; here only the model's names are known.
  return api as unknown as DocumentsApi
}

interface ApiScope {
  readonly type: ContentType
  readonly caller: Caller | null
  readonly terms: ActionTerms
}

type PerformAction = (params?: unknown) => Promise<unknown>

/** The actions of a content-type. Their value types are generated per project, hence the cast. */
function actionsOf(scope: ApiScope): DocumentActions<AnyTerms> {
  const as: DocumentActions<AnyTerms>['as'] = who =>
    actionsOf({ ...scope, caller: 'grants' in who ? who : abilityCaller(who) })
  const actions = DOCUMENT_ACTIONS.map((name): [string, PerformAction] => [
    name,
    params => performForCode(name, params, scope),
  ])
  return { ...Object.fromEntries(actions), as } as unknown as DocumentActions<AnyTerms>
}

/** Checks parameters and performs the action. Rejects with the errors that code expects. */
async function performForCode(
  action: DocumentAction,
  given: unknown,
  { terms, ...scope }: ApiScope,
): Promise<unknown> {
  try {
    return await withPluginErrors(async () => {
      const params = checkActionParams(given, action)
      const { result, value } = await perform({ ...scope, action, params }, terms)
      return value === undefined && result ? toValue(result) : value
    })
  } catch (error) {
    throw toCodeError(error)
  }
}
