import { isDeepStrictEqual } from 'node:util'
import type { Caller } from '../access/caller.ts'
import { toCodeError } from '../database/request-fault.ts'
import type { ContentType } from '../model/model.ts'
import { callerOf } from '../plugins/ability.ts'
import type { AnyTerms } from '../plugins/document-types.ts'
import type {
  AroundDocuments,
  DocumentAction,
  DocumentActions,
  DocumentsApi,
} from '../plugins/services/documents-api.ts'
import type { Act, ActTerms, Params } from './act.ts'
import { ACTIONS } from './actions.ts'
import { checkParams } from './check-params.ts'
import { findType } from './find-type.ts'

export interface DocumentsApiTerms extends ActTerms {
  /** The document middlewares; null: none. */
  readonly around: AroundDocuments | null
}

/** `app.documents`: what code does with documents. */
export function openDocumentsApi(terms: DocumentsApiTerms): DocumentsApi {
  const api = (name: string) => actionsOf({ type: findType(name, terms.model), who: null, terms })
  // The model of a project is known when it runs; its types, when its plugins are compiled.
  return api as unknown as DocumentsApi
}

interface Standing {
  readonly type: ContentType
  readonly who: Caller | null
  readonly terms: DocumentsApiTerms
}

type Action = (params?: unknown) => Promise<unknown>

/** Values are what their content-type has, which nothing here can know. */
function actionsOf(standing: Standing): DocumentActions<AnyTerms> {
  const names = Object.keys(ACTIONS) as DocumentAction[]
  const as: DocumentActions<AnyTerms>['as'] = who =>
    actionsOf({ ...standing, who: 'grants' in who ? who : callerOf(who) })
  const actions = names.map((name): [string, Action] => [name, params => performTold(name, params, standing)])
  return { ...Object.fromEntries(actions), as } as unknown as DocumentActions<AnyTerms>
}

/** Code is told by an error of its own where the database did not do its part. */
const performTold: typeof perform = (action, given, standing) =>
  perform(action, given, standing).catch(error => {
    throw toCodeError(error)
  })

/** Parameters → checked → (round the middlewares) prepared → done. */
async function perform(
  action: DocumentAction,
  given: unknown,
  { terms, ...whose }: Standing,
): Promise<unknown> {
  const { params: known, prepare } = ACTIONS[action]
  const check = (raw: unknown): Params => checkParams(raw, known, action)
  const params = check(given)
  const act: Act = { ...whose, terms, asked: null }
  if (!terms.around) return prepare(params, act)()
  // What the caller himself may not is refused before middlewares see it.
  const asked = act.who && prepare(params, act)
  return terms.around({
    type: act.type,
    action,
    params,
    async perform(changed) {
      if (asked && isDeepStrictEqual(changed, params)) return asked()
      return prepare(check(changed), { ...act, asked: act.who && params })()
    },
  })
}
