import { isDeepStrictEqual } from 'node:util'
import type { Action } from '../../access/actions.ts'
import { trusted } from '../../access/brand.ts'
import type { WriteAction } from '../../access/caller.ts'
import { permitModified } from '../../access/restrict/modified-by-middleware.ts'
import { permit } from '../../access/restrict/permit.ts'
import { deletedDocumentOf, toDeleteOutcome } from '../../actions/delete-outcome.ts'
import { isRecord, present } from '../../base/plain-data.ts'
import type { Answer, SavedDocument } from '../../documents/documents.ts'
import { attempt, type Fault, fault, isRefusedAs, RequestFault } from '../../faults/fault.ts'
import type { ContentType } from '../../model/model.ts'
import type { DocumentAction } from '../../plugins/services/documents-api.ts'
import type { CreateCommand, GivenValues, PermittedCommand, UpdateCommand } from '../../query/command.ts'
import type { Query, Status } from '../../query/query.ts'
import type { Arguments } from '../parse/operation-context.ts'
import { parseIdArgument, storableId } from '../parse/parse-arguments.ts'
import { parseStatus } from '../parse/parse-read.ts'
import {
  parseFlatInput,
  parseWriteInput,
  parseWriteLocale,
  toCreate,
  toFlatSave,
  toLocalize,
  toUpdates,
  type WriteLocation,
} from '../parse/parse-write.ts'
import { type MutationCall, type Mutations, toAnswerQuery, toRow } from './resolve-write.ts'
import type { ResolveOptions } from './resolver-context.ts'
import type { AnsweredRow } from './resolvers.ts'

/** The result of a mutation; `data` is a function if reading it must fail. */
interface MutationResponse {
  readonly data: AnsweredRow | null | (() => never)
}

/** The mutations of the nested format (reference/graphql.md#6-writing). */
async function create(call: MutationCall): Promise<MutationResponse> {
  const { root, args, options } = call
  const place = toLocation(call, null)
  const answer = answerQuery(call, place, 'create')
  const command = toCreate(place, parseWriteInput(root.type, args.data))
  return toNested(await options.documents.create(permitNested(command, call), answer))
}

async function update(call: MutationCall): Promise<MutationResponse> {
  const { root, args, options } = call
  const named = await findTarget(call)
  const place = toLocation(call, named)
  const answer = answerQuery(call, place, 'update')
  const input = parseWriteInput(root.type, args.data)
  const { draft, published } = toUpdates(place, named?.documentId ?? null, input)
  const amends = root.type.draftAndPublish && draft !== published
  const save = amends
    ? { draft: permitNested(draft, call), published: attempt(() => permitNested(published, call)) }
    : permitNested(published, call)
  try {
    return toNested(
      'draft' in save
        ? await options.documents.updateByStatus(save, answer)
        : await options.documents.update(save, answer),
    )
  } catch (error) {
    return refusedUpdate(root.type, error)
  }
}

/** A refused update of a single type fails at `data`; an unknown document is answered as null. */
function refusedUpdate({ kind }: ContentType, error: unknown): MutationResponse {
  if (kind === 'single' && error instanceof RequestFault && error.fault.code !== 'forbidden')
    return {
      data: () => {
        throw error
      },
    }
  if (isRefusedAs(error, 'notFound')) return NO_DATA
  throw error
}

async function remove(call: MutationCall): Promise<MutationResponse> {
  const { root, caller, options } = call
  const named = await findTarget(call)
  const place = toLocation(call, named)
  const answer = answerQuery(call, place, 'delete')
  const command = {
    ...place,
    kind: 'delete',
    documentId: named?.documentId ?? null,
    precondition: null,
  } as const
  const text = await options.documents.delete(permit(command, caller), [], answer)
  if (text === null && root.type.kind === 'single') throw new RequestFault(NOT_FOUND)
  return { data: text === null ? null : JSON.parse(text) }
}

async function localize(call: MutationCall): Promise<MutationResponse> {
  const { root, args, options } = call
  const named = await findTarget(call)
  const place = toLocation(call, null)
  const answer = answerQuery(call, place, 'createLocalization')
  if (args.locale === undefined || args.locale === null)
    throw new RequestFault(fault('application', 'locale is missing'))
  const command = toLocalize(place, named?.documentId ?? null, parseWriteInput(root.type, args.data))
  const permitted = permitNested(command, call)
  try {
    return toNested(await options.documents.update(permitted, answer))
  } catch (error) {
    throw isRefusedAs(error, 'notFound') ? new RequestFault(NOT_FOUND) : error
  }
}

const parseNestedValues: MutationFormat['parseValues'] = (type, data) => parseWriteInput(type, data).values

const permitNested = <Kind extends CreateCommand | UpdateCommand>(command: Kind, call: MutationCall) =>
  permitSaved(command, call, parseNestedValues)

export const NESTED_MUTATIONS: Mutations = insideMiddlewares(
  { create, update, delete: remove, createLocalization: localize },
  {
    key: 'id',
    parseValues: parseNestedValues,
    statusOf: () => 'draft',
    target: findTarget,
    documentOf: answer =>
      isRecord(answer) && typeof answer.data !== 'function' ? (answer.data ?? null) : null,
    withDocument: (_answer, data) => ({ data }),
    answersDeleted: true,
  },
)

const NO_DATA: MutationResponse = { data: null }

const NOT_FOUND: Fault = fault('notFound', 'Entity not found')

/** No document has this id. Unknown and hidden documents take the same path, so that no check tells them apart. */
const UNKNOWN_DOCUMENT: NamedDocument = { documentId: '', locale: null }

/** null: the document of a single type. */
async function findTarget({ root: { type }, args, options }: MutationCall): Promise<NamedDocument | null> {
  if (type.kind === 'single') return null
  return (await findDocument(type, args.id, options)) ?? UNKNOWN_DOCUMENT
}

function toLocation(
  { root: { type }, args, options }: MutationCall,
  named: NamedDocument | null,
): WriteLocation {
  const raw = args.locale ?? named?.locale
  return { type, locale: parseWriteLocale(type, raw, options.model) }
}

/** The answer is the published version of the written document, else its draft. */
const answerQuery = (call: MutationCall, { type, locale }: WriteLocation, action: Action): Answer =>
  toAnswerQuery(call, { status: type.draftAndPublish ? 'latest' : 'published', locale }, action)

const toNested = (written: SavedDocument): MutationResponse => ({ data: toRow(written) })

/** The document of an `id` argument. */
interface NamedDocument {
  readonly documentId: string
  /** The locale of the record if a numeric id was given; else null. */
  readonly locale: string | null
}

/** Finds a document without checking permissions. One statement for a numeric id, none for a documentId. null: unknown. */
async function findDocument(
  type: ContentType,
  input: unknown,
  { documents }: Pick<ResolveOptions, 'documents'>,
): Promise<NamedDocument | null> {
  const take = parseIdArgument(input)
  if (take.documentId !== null) return { documentId: take.documentId, locale: null }
  const locale = type.attributes.get('locale')
  const query: Query = {
    kind: 'query',
    type,
    take,
    status: type.draftAndPublish ? 'draft' : 'published',
    locale: { kind: 'all' },
    selection: { fields: locale?.kind === 'scalar' ? [locale] : [], named: true, populate: [] },
    filter: null,
    search: null,
    publication: null,
    sort: [],
  }
  const text = await documents.findOne(trusted(query), 'flat')
  if (text === null) return null
  const found = JSON.parse(text)
  return { documentId: found.documentId, locale: type.localized ? found.locale : null }
}

/** The answer has the status that the mutation writes, down to its relations. */
interface FlatTarget extends WriteLocation {
  readonly status: Status
}

const toTarget = ({ root: { type }, args, options }: MutationCall): FlatTarget => ({
  type,
  status: parseStatus(args.status),
  locale: parseWriteLocale(type, args.locale, options.model),
})

async function createFlat(call: MutationCall): Promise<AnsweredRow | null> {
  const { args, options } = call
  const target = toTarget(call)
  const answer = toAnswerQuery(call, target, 'create')
  const values = parseFlatInput(target.type, args.data)
  const command = { ...toFlatSave(target, values, target.status), kind: 'create' } as const
  return toRow(await options.documents.create(permitSaved(command, call, parseFlatInput), answer))
}

/** null without an error for an unknown document. */
async function updateFlat(call: MutationCall): Promise<AnsweredRow | null> {
  const { root, args, options } = call
  const target = toTarget(call)
  const answer = toAnswerQuery(call, target, 'update')
  const values = parseFlatInput(target.type, args.data)
  const command = {
    ...toFlatSave(target, values, target.status),
    kind: 'update',
    documentId: root.type.kind === 'single' ? null : storableId(args.documentId),
    precondition: null,
  } as const
  const permitted = permitSaved(command, call, parseFlatInput)
  try {
    return toRow(await options.documents.update(permitted, answer))
  } catch (error) {
    if (isRefusedAs(error, 'notFound')) return null
    throw error
  }
}

/** Answers the documentId back, whether or not there was such a document. */
async function removeFlat(call: MutationCall): Promise<AnsweredRow> {
  const { root, args, caller, options } = call
  const { type } = root
  const isSingle = type.kind === 'single'
  const locale =
    args.locale === options.format.allLocales ? null : parseWriteLocale(type, args.locale, options.model)
  const documentId = isSingle ? null : storableId(args.documentId)
  const command = { kind: 'delete', type, locale, documentId, precondition: null } as const
  const answer = isSingle ? toAnswerQuery(call, { status: 'latest', locale }, 'delete') : null
  const text = await options.documents.delete(permit(command, caller), [], answer)
  if (!isSingle) return { documentId: args.documentId }
  if (text === null) throw new RequestFault(fault('notFound', 'Document not found'))
  return JSON.parse(text)
}

/** The mutations of the flat format (reference/graphql.md#12-the-flat-dialect). */
export const FLAT_MUTATIONS: Mutations = insideMiddlewares(
  { create: createFlat, update: updateFlat, delete: removeFlat },
  {
    key: 'documentId',
    parseValues: parseFlatInput,
    statusOf: ({ status }) => parseStatus(status),
    target: async ({ args }) => ({ documentId: storableId(args.documentId) ?? '', locale: null }),
    documentOf: answer => answer ?? null,
    withDocument: (_answer, document) => document,
    answersDeleted: false,
  },
)

/** How a format names the document of a mutation. */
interface MutationFormat {
  /** `id` or `documentId` */
  readonly key: string
  parseValues(type: ContentType, data: unknown): GivenValues
  /** What the arguments alone say; if the document decides, the draft. */
  statusOf(args: Arguments): Status
  /** The document that the arguments name, with the locale that they imply; null: the only one of a single type. */
  target(call: MutationCall): Promise<MutationTarget | null>
  /** The document in the answer of a mutation, and the answer with another one. */
  documentOf(answer: unknown): unknown
  withDocument(answer: unknown, document: unknown): unknown
  /** True if a delete answers the document; else only its documentId. */
  readonly answersDeleted: boolean
}

interface MutationTarget {
  readonly documentId: string
  readonly locale: string | null
}

type RunMutation = (call: MutationCall) => Promise<unknown>

/** Runs each mutation inside the document middlewares of the project. Without any, the mutations stay as they are. */
function insideMiddlewares(mutations: Mutations, format: MutationFormat): Mutations {
  const wrapped = Object.entries(mutations).map(([action, run]): [string, RunMutation] => [
    action,
    call =>
      call.options.aroundActions ? runInside(action as WriteAction, run, { call, format }) : run(call),
  ])
  return Object.fromEntries(wrapped)
}

interface WrappedCall {
  readonly call: MutationCall
  readonly format: MutationFormat
}

/** As over REST: the caller's own values are authorized first, and values that middlewares change are trusted. */
async function runInside(
  action: WriteAction,
  run: RunMutation,
  { call, format }: WrappedCall,
): Promise<unknown> {
  const { root, args, caller, options } = call
  const isDelete = action === 'delete'
  if (!isDelete) assertPermitted(action, call, format)
  const params = await paramsOf(call, format)
  let answer: unknown
  const value = await options.aroundActions?.({
    type: root.type,
    action: ACTIONS[action] ?? 'update',
    params,
    caller,
    async perform(changed) {
      const isSame = isDeepStrictEqual(changed, params)
      answer = await run(
        isSame
          ? call
          : { ...call, args: changedArguments(args, { changed, params, format }), original: args },
      )
      const document = format.documentOf(answer)
      return isDelete ? toDeleted(document, params.documentId, format) : document
    },
  })
  const document = isDelete ? deletedDocument(value, format) : value
  const isKept = answer !== undefined && format.documentOf(answer) === document
  return isKept ? answer : format.withDocument(answer, document)
}

/** The outcome of a delete as code gets it. */
function toDeleted(document: unknown, named: unknown, { answersDeleted }: MutationFormat) {
  const outcome = toDeleteOutcome(document, named)
  return answersDeleted ? outcome : { ...outcome, entries: [] }
}

/** The document of the answer to a delete, from what middlewares made of its outcome. */
function deletedDocument(value: unknown, { answersDeleted }: MutationFormat): unknown {
  if (answersDeleted || !isRecord(value)) return deletedDocumentOf(value)
  return { documentId: value.documentId }
}

const ACTIONS: { readonly [Action in WriteAction]?: DocumentAction } = { create: 'create', delete: 'delete' }

function assertPermitted(
  action: WriteAction,
  { root: { type }, args, caller }: MutationCall,
  format: MutationFormat,
): void {
  const values = format.parseValues(type, args.data)
  const status = type.draftAndPublish ? format.statusOf(args) : 'published'
  const saved = { type, locale: null, status, values }
  if (action === 'create') permit({ kind: 'create', ...saved }, caller)
  else {
    const locales = action === 'createLocalization' ? ({ locales: 'new' } as const) : {}
    permit({ kind: 'update', ...saved, documentId: null, precondition: null, ...locales }, caller)
  }
}

async function paramsOf(call: MutationCall, format: MutationFormat): Promise<Record<string, unknown>> {
  const { args } = call
  const named = args[format.key] === undefined ? null : await format.target(call)
  return present({
    documentId: named ? named.documentId || args[format.key] : undefined,
    data: isRecord(args.data) ? { ...args.data } : undefined,
    locale: args.locale ?? named?.locale ?? undefined,
    status: args.status,
  })
}

interface ChangedParams {
  readonly changed: Readonly<Record<string, unknown>>
  readonly params: Readonly<Record<string, unknown>>
  readonly format: MutationFormat
}

/** The arguments with the parameters as middlewares left them. */
function changedArguments(args: Arguments, { changed, params, format }: ChangedParams): Arguments {
  const { documentId, ...others } = changed
  const isMoved = documentId !== params.documentId
  return { ...args, ...others, ...(isMoved ? { [format.key]: documentId } : {}) }
}

/** Permits a save. Values that middlewares changed are not checked against the caller. */
function permitSaved<Kind extends CreateCommand | UpdateCommand>(
  command: Kind,
  { root, caller, original }: MutationCall,
  parseValues: MutationFormat['parseValues'],
): PermittedCommand<Kind> {
  if (!original) return permit(command, caller)
  const before = { ...command, values: parseValues(root.type, original.data) }
  return permitModified(command, before, permit(before, caller))
}
