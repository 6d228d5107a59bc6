import type { Caller } from '../access/caller.ts'
import type { ActionCall, ActionOptions, ParamRules } from '../actions/action-call.ts'
import { invalidParam, type Params } from '../actions/action-params.ts'
import { toPlain } from '../actions/parameters/plain-values.ts'
import { perform, toActionValue, withPluginErrors } from '../actions/perform.ts'
import { INTEGER } from '../base/integers.ts'
import { didYouMean } from '../base/nearest.ts'
import { toCodeError } from '../database/request-fault.ts'
import type { Fault } from '../faults/fault.ts'
import type { ContentType, Holder, Model } from '../model/model.ts'
import { abilityCaller } from '../plugins/ability.ts'
import type { AnyOptions } from '../plugins/document-types.ts'
import { knownNames } from '../plugins/plugin-module.ts'
import type { DocumentAction, DocumentActions, DocumentsApi } from '../plugins/services/documents-api.ts'
import type { RestSettings } from '../project/settings/settings.ts'
import { OPERATOR_NAMES } from '../query/operators.ts'
import { isRecord, targetHolder } from '../query/parse-place.ts'

/** Opens `app.documents`, the documents API of project and plugin code. */
export function openDocumentsApi(options: Omit<ActionOptions, 'rules'>): DocumentsApi {
  const actionOptions = { ...options, settings: unlimitedSettings(options.settings), rules: CODE_RULES }
  const api = (name: string) =>
    actionsOf({ type: findType(name, options.model), caller: null, options: actionOptions })
  // The types of documents are generated per project; here only the model's names are known.
  return api as unknown as DocumentsApi
}

interface ApiScope {
  readonly type: ContentType
  readonly caller: Caller | null
  readonly options: ActionOptions
}

type PerformAction = (params?: unknown) => Promise<unknown>

/** The actions of a content-type. Their value types are generated per project, hence the cast. */
function actionsOf(scope: ApiScope): DocumentActions<AnyOptions> {
  const as: DocumentActions<AnyOptions>['as'] = who =>
    actionsOf({ ...scope, caller: 'grants' in who ? who : abilityCaller(who) })
  const actions = DOCUMENT_ACTIONS.map((name): [string, PerformAction] => [
    name,
    params => performForCode(name, params, scope),
  ])
  const found = Object.assign(Object.create(ACTION_NAMES), Object.fromEntries(actions), { as })
  return found
}

const ACTION_NAMES = knownNames('app.documents(…)')

/** Checks parameters and performs the action. Rejects with the errors that code expects. */
async function performForCode(
  action: DocumentAction,
  input: unknown,
  { options, ...scope }: ApiScope,
): Promise<unknown> {
  try {
    return await withPluginErrors(async () => {
      const params = checkActionParams(input, action)
      const { result, value } = await perform({ ...scope, action, params }, options)
      return value === undefined && result ? toActionValue(result) : value
    })
  } catch (error) {
    throw toCodeError(error)
  }
}

/** Rules of parameters that project code passes: known keys, plain values, suggestions in faults. */
const CODE_RULES: ParamRules = {
  check: checkActionParams,
  toQuery: toQueryParams,
  explain: addSuggestion,
}

const ANSWER = ['populate', 'fields']
const FIND = ['filters', '_q', 'publicationFilter', 'hasPublishedVersion', 'status', 'locale']
const VERSIONS = ['documentId', 'locale', ...ANSWER]

const KNOWN_PARAMS: Readonly<Record<DocumentAction, readonly string[]>> = {
  findMany: [...FIND, ...ANSWER, 'search', 'highlight', 'sort', 'pagination', 'start', 'limit'],
  findFirst: [...FIND, ...ANSWER, 'search', 'highlight', 'sort'],
  findOne: ['documentId', ...FIND, ...ANSWER, 'search', 'highlight'],
  count: [...FIND, 'search'],
  create: ['data', 'status', 'locale', ...ANSWER],
  update: ['documentId', 'data', 'status', 'locale', ...ANSWER],
  delete: VERSIONS,
  updateMany: ['filters', '_q', 'publicationFilter', 'data', 'status', 'locale'],
  deleteMany: ['filters', '_q', 'publicationFilter', 'locale'],
  publish: VERSIONS,
  unpublish: VERSIONS,
  discardDraft: VERSIONS,
}

const DOCUMENT_ACTIONS = Object.keys(KNOWN_PARAMS) as readonly DocumentAction[]

function checkActionParams(raw: unknown, action: DocumentAction): Params {
  return checkParams(raw, KNOWN_PARAMS[action], action)
}

/** `status` defaults to `draft`, as in Strapi's document service. Lists have no default limit. */
function toQueryParams(params: Params, { action, type }: ActionCall): Params {
  const query = { ...params, status: params.status ?? (type.draftAndPublish ? 'draft' : 'published') }
  return LISTS.has(action) ? toPagination(query) : query
}

const LISTS: ReadonlySet<DocumentAction> = new Set<DocumentAction>([
  'findMany',
  'findFirst',
  'count',
  'updateMany',
  'deleteMany',
])

/** Adds the nearest known name to a fault about an unknown one. */
function addSuggestion(fault: Fault, holder: ContentType): Fault {
  const { key, path, expected } = fault.details
  if (typeof key !== 'string' || key === '' || expected !== undefined) return fault
  const holderAtPath = typeof path === 'string' ? locationAt(path.split('.'), key, holder) : holder
  // The name exists, and is refused for another reason: it would suggest itself.
  if (holderAtPath?.attributes.has(key)) return fault
  const near = didYouMean(key, key.startsWith('$') ? OPERATOR_WORDS : (holderAtPath?.attributes.keys() ?? []))
  return near === '' ? fault : { ...fault, message: `${fault.message}${near}` }
}

const OPERATOR_WORDS = [...OPERATOR_NAMES, '$and', '$or', '$not']

/** The holder at a dotted path, without its last name if that is the key itself; null: the path leads nowhere. */
function locationAt(path: readonly string[], key: string, start: Holder): Holder | null {
  const names = path.at(-1) === key ? path.slice(0, -1) : path
  return names.reduce<Holder | null>((holder, name) => {
    const attribute = holder?.attributes.get(name)
    return attribute ? targetHolder(attribute) : null
  }, start)
}

/** No limit: more rows than a table can have. */
const ALL = INTEGER.most

/**
 * Converts `pagination` with numbers, and the top-level `start` and `limit`, to the form of a query string. Without a
 * limit, or with `limit: -1`, it selects all documents.
 */
function toPagination(params: Params): Params {
  const { start, limit, pagination = {}, ...others } = params
  if (!isRecord(pagination)) throw invalidParam('pagination must be an object', 'pagination')
  const unknown = Object.keys(pagination).find(key => !PAGE_KEYS.includes(key))
  if (unknown !== undefined)
    throw invalidParam(`Unknown key ${unknown} of pagination: it takes ${PAGE_KEYS.join(', ')}`, unknown)
  const page = {
    ...pagination,
    ...(start !== undefined && { start }),
    ...(limit !== undefined && { limit }),
  }
  const texts = Object.entries(page).map(([key, value]) => [key, pageText(key, value)])
  const paged = 'page' in page || 'pageSize' in page
  return { ...others, pagination: { ...(paged ? {} : { limit: String(ALL) }), ...Object.fromEntries(texts) } }
}

const PAGE_KEYS: readonly string[] = ['page', 'pageSize', 'start', 'limit']

function pageText(key: string, value: unknown): string {
  const number = typeof value === 'string' && value.trim() !== '' ? Number(value) : value
  if (key === 'limit' && number === -1) return String(ALL)
  const least = key === 'start' ? 0 : 1
  if (typeof number === 'number' && Number.isInteger(number) && number >= least) return String(number)
  throw invalidParam(`Invalid ${key}: expected a whole number from ${least}`, key)
}

/** Settings without a maximum limit; the default page size is REST's. */
const unlimitedSettings = (settings: RestSettings): RestSettings => ({
  ...settings,
  maxLimit: ALL,
  withCount: false,
})

/** Checks that all keys are known and converts values to plain ones. Throws RequestFault with the nearest known key. */
function checkParams(raw: unknown, known: readonly string[], name: string): Params {
  if (raw === undefined) return {}
  if (!isRecord(raw)) throw invalidParam(`${name} takes an object of parameters`, name)
  const params: [string, unknown][] = []
  for (const [key, value] of Object.entries(raw)) {
    if (!known.includes(key))
      throw invalidParam(
        `Unknown parameter ${key} of ${name}${didYouMean(key, known) || (known.length === 0 ? ': it takes none' : `: it takes ${known.join(', ')}`)}`,
        key,
      )
    if (value !== undefined) params.push([key, toPlain(value, key)])
  }
  return Object.fromEntries(params)
}

/** Finds a content-type by uid or key. Throws RequestFault with the nearest name. */
function findType(name: unknown, { contentTypes }: Model): ContentType {
  const found = contentTypes.get(String(name)) ?? [...contentTypes.values()].find(({ key }) => key === name)
  if (found) return found
  const names = [...contentTypes.values()].flatMap(({ uid, key }) => [uid, key])
  throw invalidParam(`There is no content-type ${String(name)}${didYouMean(String(name), names)}`, 'uid')
}
