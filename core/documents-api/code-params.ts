import type { ActionCall, ParamRules } from '../actions/action-call.ts'
import { invalidParam, type Params } from '../actions/params.ts'
import { didYouMean } from '../base/nearest.ts'
import type { Fault } from '../faults/fault.ts'
import type { ContentType, Holder } from '../model/model.ts'
import type { DocumentAction } from '../plugins/services/documents-api.ts'
import type { RestSettings } from '../project/settings/settings.ts'
import { OPERATOR_NAMES } from '../query/operators.ts'
import { isRecord, targetHolder } from '../query/parse-place.ts'
import { checkParams } from './check-params.ts'

/** Rules of parameters that project code passes: known keys, plain values, suggestions in faults. */
export const CODE_RULES: ParamRules = {
  check: checkActionParams,
  toQuery: toQueryParams,
  explain: addSuggestion,
}

const ANSWER = ['populate', 'fields']
const FIND = ['filters', '_q', 'publicationFilter', 'hasPublishedVersion', 'status', 'locale']
const VERSIONS = ['documentId', 'locale', ...ANSWER]

const KNOWN_PARAMS: Readonly<Record<DocumentAction, readonly string[]>> = {
  findMany: [...FIND, ...ANSWER, 'sort', 'pagination', 'start', 'limit'],
  findFirst: [...FIND, ...ANSWER, 'sort'],
  findOne: ['documentId', 'status', 'locale', ...ANSWER],
  count: FIND,
  create: ['data', 'status', 'locale', ...ANSWER],
  update: ['documentId', 'data', 'status', 'locale', ...ANSWER],
  delete: VERSIONS,
  publish: VERSIONS,
  unpublish: VERSIONS,
  discardDraft: VERSIONS,
}

export const DOCUMENT_ACTIONS = Object.keys(KNOWN_PARAMS) as readonly DocumentAction[]

export function checkActionParams(raw: unknown, action: DocumentAction): Params {
  return checkParams(raw, KNOWN_PARAMS[action], action)
}

/** `status` defaults to `draft`, as in Strapi's document service. Lists have no default limit. */
function toQueryParams(params: Params, { action, type }: ActionCall): Params {
  const query = { ...params, status: params.status ?? (type.draftAndPublish ? 'draft' : 'published') }
  return LISTS.has(action) ? toPagination(query) : query
}

const LISTS: ReadonlySet<DocumentAction> = new Set<DocumentAction>(['findMany', 'findFirst', 'count'])

/** Adds the nearest known name to a fault about an unknown one. */
function addSuggestion(fault: Fault, holder: ContentType): Fault {
  const { key, path, expected } = fault.details
  if (typeof key !== 'string' || key === '' || expected !== undefined) return fault
  const holderAtPath = typeof path === 'string' ? placeAt(path.split('.'), key, holder) : holder
  const near = didYouMean(key, key.startsWith('$') ? OPERATOR_WORDS : (holderAtPath?.attributes.keys() ?? []))
  return near === '' ? fault : { ...fault, message: `${fault.message}${near}` }
}

const OPERATOR_WORDS = [...OPERATOR_NAMES, '$and', '$or', '$not']

/** The holder at a dotted path, without its last name if that is the key itself; null: the path leads nowhere. */
function placeAt(path: readonly string[], key: string, start: Holder): Holder | null {
  const names = path.at(-1) === key ? path.slice(0, -1) : path
  return names.reduce<Holder | null>((holder, name) => {
    const attribute = holder?.attributes.get(name)
    return attribute ? targetHolder(attribute) : null
  }, start)
}

/** No limit: more rows than a table can have. */
const ALL = 2_147_483_647

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
export const unlimitedSettings = ({ prefix, defaultLimit }: RestSettings): RestSettings => ({
  prefix,
  defaultLimit,
  maxLimit: ALL,
  withCount: false,
})
