import type { Action } from '../access/actions.ts'
import { permitModified } from '../access/restrict/modified-by-middleware.ts'
import type { Answer } from '../documents/documents.ts'
import { type Fault, fault, isRefusedAs, RequestFault } from '../faults/fault.ts'
import type { ContentType } from '../model/model.ts'
import type {
  CreateCommand,
  DeleteCommand,
  GivenValues,
  PermittedCommand,
  UpdateCommand,
} from '../query/command.ts'
import { parseFilter } from '../query/parse-filter.ts'
import { parseGivenValues } from '../query/parse-given-values.ts'
import { isRecord } from '../query/parse-place.ts'
import type { Filter, LocaleChoice, Query, RestrictedQuery, Status } from '../query/query.ts'
import {
  type ActionCall,
  type ActionOptions,
  type ActionResult,
  type PrepareAction,
  type PreparedAction,
  type PublicationTime,
  parseExplained,
  queryParams,
  type WriteTarget,
} from './action-call.ts'
import { invalidParam, type Params, parseDocumentId } from './action-params.ts'
import { parseSharedQuery, type QueryParseOptions } from './parameters/parse-query.ts'
import { parseDeletedLocale, parseWrittenLocale } from './parameters/parse-version.ts'
import { authorizeCommand, authorizeQuery, isUnstorable } from './prepare-read.ts'

export const prepareCreate: PrepareAction = (call, options) => {
  const { type } = call
  const { answer, locale, status } = writeTarget('create', call, options)
  const values = parseData(call.params, call, options)
  const create = { kind: 'create', type, locale, status, values, ...publicationOf(status, call) } as const
  const command = permitSave<CreateCommand>(create, call, options)
  return async () => toDocument((await options.documents.create(command, toAnswer(answer, call))).text)
}

export const prepareUpdate: PrepareAction = (call, options) => {
  const { type } = call
  const documentId = parseDocumentId(call.params, type)
  const localizes = call.http?.localizes === true
  const { answer, locale, status } = writeTarget(localizes ? 'createLocalization' : 'update', call, options)
  const values = parseData(call.params, call, options)
  const precondition = call.http?.precondition ?? null
  const saved = { type, documentId, locale, status, values, precondition, ...publicationOf(status, call) }
  const update = { kind: 'update', ...saved } as const
  const command = permitSave<UpdateCommand>(localizes ? { ...update, locales: 'new' } : update, call, options)
  return async () => {
    if (isUnstorable(documentId)) return { kind: 'missing' }
    try {
      return toDocument((await options.documents.update(command, toAnswer(answer, call))).text)
    } catch (error) {
      if (isRefusedAs(error, 'notFound')) return { kind: 'missing' }
      throw error
    }
  }
}

const publicationOf = (status: Status, { http }: ActionCall): PublicationTime =>
  status === 'published' && http?.publication ? http.publication : {}

const toDocument = (text: string | null): ActionResult => ({ kind: 'document', text })

const toAnswer = (query: RestrictedQuery, { http }: ActionCall): Answer =>
  http
    ? { query, shape: http.shape, body: http.taggedBody, requestContext: http.requestContext }
    : { query, shape: 'flat' }

export type SaveAction = 'create' | 'update' | 'createLocalization'

export const writeTarget = (action: SaveAction, call: ActionCall, options: ActionOptions): WriteTarget =>
  call.target ??
  restrictTarget(
    parseExplained(call, options, () => parseTarget(call.type, queryParams(call, options), options)),
    call,
    action,
  )

/** A write target that is not yet restricted to a caller. */
export interface ParsedTarget extends Omit<WriteTarget, 'answer'> {
  readonly query: Query
}

export function parseTarget(type: ContentType, params: Params, options: QueryParseOptions): ParsedTarget {
  const shared = parseSharedQuery(type, params, options)
  const locale = parseWrittenLocale(type, params.locale, options.model)
  const query: Query = { ...shared, take: ONE_DOCUMENT, locale: toLocaleChoice(locale) }
  return { locale, status: type.draftAndPublish ? shared.status : 'published', query }
}

const restrictTarget = (
  { locale, status, query }: ParsedTarget,
  call: ActionCall,
  action: SaveAction,
): WriteTarget => ({ locale, status, answer: authorizeAnswer(query, call, action) })

/** The document service fills in the id of the written document. */
const ONE_DOCUMENT: Query['take'] = { kind: 'one', documentId: null }

const toLocaleChoice = (locale: string | null): LocaleChoice =>
  locale === null ? { kind: 'all' } : { kind: 'these', codes: [locale] }

/** Conditions have no effect on a write's answer: they are validated, then dropped (reference/rest.md#7-filters). */
export function authorizeAnswer(
  query: Query,
  call: Pick<ActionCall, 'caller' | 'original'>,
  action: Action,
): RestrictedQuery {
  const { textSearch, ...rest } = query
  const { filter, search, sort, publication } = rest
  if (filter || search || textSearch || publication || sort.length > 0) authorizeQuery(query, call, action)
  return authorizeQuery({ ...rest, filter: null, search: null, publication: null, sort: [] }, call, action)
}

/** Trusted code and middlewares may also set attributes that no request may. */
export function parseData({ data }: Params, call: ActionCall, options: ActionOptions): GivenValues {
  if (!isRecord(data)) throw invalidParam('data must be an object of attributes', 'data')
  const sealed = call.caller === null || call.original !== undefined
  return parseExplained(call, options, () => parseGivenValues(call.type, data, { sealed }))
}

/** Checks the caller's own values; values that middlewares changed are trusted. */
export function permitSave<Kind extends CreateCommand | UpdateCommand>(
  command: Kind,
  { original, ...call }: ActionCall,
  options: ActionOptions,
): PermittedCommand<Kind> {
  if (!original) return authorizeCommand(command, call)
  const before = { ...command, values: parseData(original, call, options) }
  return permitModified(command, before, authorizeCommand(before, call))
}

export const prepareDelete: PrepareAction = (call, options) =>
  call.http ? deleteOverHttp(call, options) : deleteForCode(call, options)

/** Reads nothing but the versions that a precondition may name: the published one and the draft. */
function deleteOverHttp(call: ActionCall, options: ActionOptions): PreparedAction {
  const { type, params } = call
  const shared = parseSharedQuery(type, params, options)
  const locale = parseDeletedLocale(type, params.locale, options.model)
  if (type.draftAndPublish && shared.status === 'draft') throw new RequestFault(noDraftAlone(type))
  const answered = type.localized ? (locale ?? options.model.defaultLocale) : null
  const query: Query = { ...shared, take: ONE_DOCUMENT, locale: toLocaleChoice(answered) }
  const statuses: readonly Status[] = type.draftAndPublish ? [shared.status, 'draft'] : [shared.status]
  const seen = statuses.map(status => toAnswer(authorizeAnswer({ ...query, status }, call, 'delete'), call))
  const documentId = parseDocumentId(params, type)
  const precondition = call.http?.precondition ?? null
  const command = authorizeCommand<DeleteCommand>(
    { kind: 'delete', type, documentId, locale, precondition },
    call,
  )
  // Read inside the delete's transaction, after its conditions: a document that is hidden from the caller is not answered.
  const answer = call.http?.answersDelete ? latestAnswer(query, call) : null
  return async () => {
    if (isUnstorable(documentId)) return deleted(call, documentId, null)
    return deleted(call, documentId, await options.documents.delete(command, seen, answer))
  }
}

/** The published version, or the draft if there is none. */
const latestAnswer = (query: Query, call: ActionCall): Answer =>
  toAnswer(
    authorizeAnswer(query.type.draftAndPublish ? { ...query, status: 'latest' } : query, call, 'delete'),
    call,
  )

function deleted({ http }: ActionCall, documentId: string | null, text: string | null): ActionResult {
  if (!http?.answersDelete) return { kind: 'value', value: { documentId, entries: [] } }
  return text === null ? { kind: 'missing' } : { kind: 'document', text }
}

const noDraftAlone = ({ key }: ContentType): Fault =>
  fault('validation', `The draft of a document of ${key} cannot be deleted alone: leave out status`, {
    key: 'status',
  })

/** Reads the entries before it deletes them: a caller without draft access gets the published ones. */
function deleteForCode(call: ActionCall, options: ActionOptions): PreparedAction {
  const target = parseVersionParams(call, options)
  const command = authorizeCommand<DeleteCommand>({ kind: 'delete', ...target, precondition: null }, call)
  const status = call.caller === null && call.type.draftAndPublish ? 'draft' : 'published'
  const answer = versionAnswer('delete', status, { call, options })
  const { query } = answer
  const { documentId } = command
  const take: Query['take'] = { kind: 'many', page: { start: 0, limit: MAX_LOCALES }, total: false }
  return async () => {
    if (isUnstorable(documentId)) return { kind: 'value', value: { documentId, entries: [] } }
    const filter =
      documentId === null ? query.filter : andFilter(query.filter, parseFilter({ documentId }, call.type))
    const { text } = await options.documents.findMany({ ...query, take, filter }, 'flat')
    const deleted = await options.documents.delete(command, [], answer)
    // Nothing is deleted of a document that is hidden from the caller.
    const entries: readonly { readonly documentId?: unknown }[] = deleted === null ? [] : JSON.parse(text)
    return {
      kind: 'value',
      value: { documentId: documentId ?? entries[0]?.documentId ?? null, entries },
    }
  }
}

/** Maximum number of locale versions in a result. */
const MAX_LOCALES = 10_000

const andFilter = (one: Filter | null, other: Filter): Filter =>
  one ? { kind: 'and', filters: [one, other] } : other

/** Type, documentId and locale of a command. The locale defaults to the default locale; null (`*`): all. */
export const parseVersionParams = ({ type, params }: ActionCall, { model }: ActionOptions) => ({
  type,
  documentId: parseDocumentId(params, type),
  locale: parseDeletedLocale(type, params.locale, model),
})

interface ActionContext {
  readonly call: ActionCall
  readonly options: ActionOptions
}

/** Reads the resulting versions with this status, in the locales of the command. */
export function versionAnswer(action: Action, status: Status, { call, options }: ActionContext): Answer {
  const { type } = call
  const params: Params = { ...queryParams(call, options), status }
  const shared = parseExplained(call, options, () => parseSharedQuery(type, params, options))
  const locale = toLocaleChoice(parseDeletedLocale(type, params.locale, options.model))
  return { query: authorizeQuery({ ...shared, take: ONE_DOCUMENT, locale }, call, action), shape: 'flat' }
}
