import { isDeepStrictEqual } from 'node:util'
import type { BodyOrText } from '../cache/answer-store.ts'
import type { Answer, DocumentChange, Documents } from '../documents/documents.ts'
import { toPluginError } from '../faults/errors.ts'
import { isRefusedAs, RequestFault } from '../faults/fault.ts'
import type { DocumentAction, DocumentCall } from '../plugins/services/documents-api.ts'
import type {
  DeleteCommand,
  GivenValues,
  PermittedCommand,
  StatusChange,
  StatusCommand,
  UpdateCommand,
} from '../query/command.ts'
import { isRecord } from '../query/parse-place.ts'
import type { RestrictedQuery, Status } from '../query/query.ts'
import {
  type ActionCall,
  type ActionOptions,
  type ActionResult,
  type PrepareAction,
  parseExplained,
  queryParams,
} from './action-call.ts'
import { invalidParam, type Params } from './action-params.ts'
import { toDeleteOutcome } from './delete-outcome.ts'
import { toChangedParams } from './parameters/changed-params.ts'
import { badCursor } from './parameters/parse-pagination.ts'
import { parseListQuery } from './parameters/parse-query.ts'
import { parseDeletedLocale, parseWrittenLocale } from './parameters/parse-version.ts'
import { withPageTexts } from './parameters/plain-values.ts'
import {
  authorizeCommand,
  authorizeQuery,
  isUnstorable,
  prepareCount,
  prepareFindFirst,
  prepareFindMany,
  prepareFindOne,
} from './prepare-read.ts'
import {
  parseData,
  parseVersionParams,
  permitSave,
  prepareCreate,
  prepareDelete,
  prepareUpdate,
  versionAnswer,
} from './prepare-write.ts'

/** Updates the documents that a list finds, in one transaction. Only code has it: REST and GraphQL write one document. */
const prepareUpdateMany: PrepareAction = (call, options) => {
  const { type, params } = call
  const found = selectDocuments(call, options)
  const status = type.draftAndPublish && params.status !== 'published' ? 'draft' : 'published'
  const locale = parseWrittenLocale(type, params.locale, options.model)
  const values = parseData(params, call, options)
  if (type === options.model.builtIn.user) assertNoAccount(values)
  const commandOf = (documentId: string): PermittedCommand<UpdateCommand> =>
    permitSave(
      { kind: 'update', type, documentId, locale, status, values, precondition: null },
      call,
      options,
    )
  // Refusals that concern every document must not depend on whether one is found.
  commandOf('')
  return async () => changed(await changeAll(found, commandOf, options))
}

/** These end sessions and mailed codes of one user, which only `update` does. */
function assertNoAccount(values: GivenValues): void {
  const name = ['password', 'email', 'username'].find(each => Object.hasOwn(values, each))
  if (name !== undefined) throw invalidParam(`updateMany cannot set ${name} of users: use update`, name)
}

/** Deletes the documents that a list finds, in one transaction. */
const prepareDeleteMany: PrepareAction = (call, options) => {
  const { type, params } = call
  const found = selectDocuments(call, options)
  const locale = parseDeletedLocale(type, params.locale, options.model)
  const commandOf = (documentId: string): PermittedCommand<DeleteCommand> =>
    authorizeCommand<DeleteCommand>({ kind: 'delete', type, documentId, locale, precondition: null }, call)
  commandOf('')
  return async () => changed(await changeAll(found, commandOf, options))
}

const changed = (count: number) => ({ kind: 'value', value: { count } }) as const

/** The list of the documents that the caller may see. A missing filter would change every document by mistake. */
function selectDocuments(call: ActionCall, options: ActionOptions): RestrictedQuery {
  const { data: _, ...params } = queryParams(call, options)
  if (!isRecord(params.filters))
    throw invalidParam(`filters of ${call.action} must be an object: {} selects all documents`, 'filters')
  const list = parseExplained(call, options, () =>
    parseListQuery(call.type, { ...params, fields: ['documentId'], sort: 'id' }, options),
  )
  return authorizeQuery(list.query, call)
}

async function changeAll(
  query: RestrictedQuery,
  commandOf: (documentId: string) => PermittedCommand<UpdateCommand | DeleteCommand>,
  { documents }: ActionOptions,
): Promise<number> {
  const found: readonly { readonly documentId: string }[] = JSON.parse(
    (await documents.findMany(query, 'flat')).text,
  )
  const commands = [...new Set(found.map(({ documentId }) => documentId))].map(commandOf)
  return commands.length === 0 ? 0 : documents.changeMany(commands, query)
}

const preparePublish = changesStatus('publish', 'published', documents => documents.publish)

const prepareUnpublish = changesStatus('unpublish', 'draft', documents => documents.unpublish)

const prepareDiscardDraft = changesStatus('discardDraft', 'draft', documents => documents.discardDraft)

type ChangeStatus<Kind extends StatusChange> = (
  command: PermittedCommand<StatusCommand<Kind>>,
  answer: Answer,
) => Promise<DocumentChange>

/** `status`: of the versions that are answered. A missing document yields an empty result, as in delete. */
function changesStatus<Kind extends StatusChange>(
  kind: Kind,
  status: Status,
  changeOf: (documents: Documents) => ChangeStatus<Kind>,
): PrepareAction {
  return (call, options) => {
    const command = authorizeCommand<StatusCommand<Kind>>(
      { kind, ...parseVersionParams(call, options) },
      call,
    )
    const answer = versionAnswer('publish', status, { call, options })
    const missing = { kind: 'value', value: { documentId: command.documentId, entries: [] } } as const
    return async () => {
      if (isUnstorable(command.documentId)) return missing
      try {
        const { texts, documentId } = await changeOf(options.documents)(command, answer)
        return { kind: 'value', value: { documentId, entries: texts.map(text => JSON.parse(text)) } }
      } catch (error) {
        if (!isRefusedAs(error, 'notFound')) throw error
        return missing
      }
    }
  }
}

const PREPARE: { readonly [Name in DocumentAction]: PrepareAction } = {
  findMany: prepareFindMany,
  findFirst: prepareFindFirst,
  findOne: prepareFindOne,
  count: prepareCount,
  create: prepareCreate,
  update: prepareUpdate,
  delete: prepareDelete,
  updateMany: prepareUpdateMany,
  deleteMany: prepareDeleteMany,
  publish: preparePublish,
  unpublish: prepareUnpublish,
  discardDraft: prepareDiscardDraft,
}

/** The outcome of an action. */
export interface Performed {
  /** The answer of the document service; null: a middleware answered without the action. */
  readonly result: ActionResult | null
  /** The answer of the middlewares; undefined: there are none. */
  readonly value?: unknown
}

/**
 * Performs an action inside the document middlewares. The caller's own parameters are authorized before middlewares
 * run; parameters that they change are parsed and authorized again.
 */
export async function perform(call: ActionCall, options: ActionOptions): Promise<Performed> {
  const { runMiddlewares } = options
  if (!runMiddlewares) return { result: await PREPARE[call.action](call, options)() }
  const { type, action, params } = call
  const prepared = call.caller && PREPARE[action](call, options)
  let result: ActionResult | null = null
  const value = await runMiddlewares({
    type,
    action,
    params,
    caller: call.caller,
    read: previous => readPrevious(call, previous, options),
    async perform(changed) {
      const same = prepared !== null && isDeepStrictEqual(changed, params)
      result = await withPluginErrors(() => (same ? prepared() : performChanged(call, changed, options)))
      const done = toActionValue(result)
      return action === 'delete' && result.kind !== 'value' ? toDeleteOutcome(done, params.documentId) : done
    },
  })
  return { result, value }
}

/** Runs an action of another protocol inside the document middlewares. */
export type AroundActions = (call: Omit<DocumentCall, 'read'>) => Promise<unknown>

/** null: there are no document middlewares. */
export function openAroundActions(options: ActionOptions): AroundActions | null {
  const { runMiddlewares } = options
  if (!runMiddlewares) return null
  return call =>
    runMiddlewares({
      ...call,
      read: previous => readPrevious(call, previous, options),
      perform: changed =>
        withPluginErrors(async () => call.perform(toChangedParams(changed, call.params, call.action))),
    })
}

/** Reads the document of an action for code of the project, which may see all of it. */
async function readPrevious(
  { type }: Pick<ActionCall, 'type'>,
  params: Params,
  options: ActionOptions,
): Promise<unknown> {
  const call: ActionCall = { action: 'findOne', type, params, caller: null }
  return withPluginErrors(async () => toActionValue(await prepareFindOne(call, options)()))
}

/** `async`: a refusal of the parameters rejects, too. */
async function performChanged(
  { target: _, ...call }: ActionCall,
  changed: Params,
  options: ActionOptions,
): Promise<ActionResult> {
  if (changesCursorOrder(changed, call.params)) throw new RequestFault(badCursor(NO_CURSORS_HERE))
  const params = options.rules
    ? options.rules.check(changed, call.action)
    : withPageTexts(toChangedParams(changed, call.params, call.action))
  const original = call.caller ? { original: call.params } : {}
  return PREPARE[call.action]({ ...call, params, ...original }, options)()
}

/** A cursor holds the sort values of a row. Values of a sort that a middleware chose may be hidden from the caller. */
const changesCursorOrder = ({ sort, pagination }: Params, original: Params): boolean =>
  isRecord(pagination) && pagination.after !== undefined && !isDeepStrictEqual(sort, original.sort)

const NO_CURSORS_HERE = 'code of the project puts this list into an order of its own, which has no cursors'

/** Rejects with the error classes that code can test with `instanceof`. */
export async function withPluginErrors<Value>(work: () => Promise<Value>): Promise<Value> {
  try {
    return await work()
  } catch (error) {
    throw error instanceof RequestFault && error.constructor === RequestFault
      ? toPluginError(error.fault)
      : error
  }
}

/** The result as code gets it. A new value for each call, except for `value`. */
export function toActionValue(result: ActionResult): unknown {
  switch (result.kind) {
    case 'body':
      return toEnvelope(result.body).data
    case 'document':
      return result.text === null ? null : JSON.parse(result.text)
    case 'value':
      return result.value
    case 'missing':
      return null
  }
}

export const toEnvelope = (body: BodyOrText): { readonly data: unknown; readonly meta: unknown } =>
  JSON.parse(typeof body === 'string' ? body : body.bytes.toString())
