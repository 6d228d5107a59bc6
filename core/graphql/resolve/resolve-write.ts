import type { GraphQLResolveInfo } from 'graphql'
import type { Action } from '../../access/actions.ts'
import { trusted } from '../../access/brand.ts'
import type { Caller, WriteAction } from '../../access/caller.ts'
import { permit } from '../../access/restrict/permit.ts'
import { restrict } from '../../access/restrict/restrict.ts'
import type { RequestContext } from '../../base/request-context.ts'
import type { Result } from '../../base/result.ts'
import type { Answer, SavedDocument } from '../../documents/documents.ts'
import { attempt, type Fault, fault, forbidden, RequestFault, unwrap } from '../../faults/fault.ts'
import type { ContentType } from '../../model/model.ts'
import type { Query } from '../../query/query.ts'
import type { Arguments } from '../parse/operation-context.ts'
import { parseIdArgument } from '../parse/parse-arguments.ts'
import {
  parseWriteAnswer,
  parseWriteInput,
  parseWriteLocale,
  toCreate,
  toLocalize,
  toUpdates,
  type WriteLocation,
} from '../parse/parse-write.ts'
import type { RootField } from '../sdl/root-fields.ts'
import { type ExecutionContext, type ResolveTerms, toOperationContext } from './resolve-read.ts'
import type { AnsweredRow } from './resolvers.ts'

/** The result of a mutation; `data` is a function if reading it must fail. */
interface MutationResponse {
  readonly data: AnsweredRow | null | (() => never)
}

/** One call of a generated mutation. */
interface MutationCall {
  readonly root: RootField
  readonly args: Arguments
  readonly caller: Caller
  readonly trail: RequestContext | undefined
  readonly info: GraphQLResolveInfo
  readonly terms: ResolveTerms
}

type MutationHandler = (call: MutationCall) => Promise<MutationResponse>

/** The resolver of a generated mutation: one transaction, in which its answer is read. */
export function writeResolver(root: RootField, terms: ResolveTerms) {
  const action = actionOf(root)
  return (
    _: unknown,
    args: Arguments,
    { caller, signal, trail }: ExecutionContext,
    info: GraphQLResolveInfo,
  ) => {
    // A mutation does not start after the request's deadline.
    signal?.throwIfAborted()
    // Before any lookup: a caller who may not write must not learn what exists.
    if (!caller.grants.writeAccess(root.type, action)) throw new RequestFault(forbidden())
    return WRITES[action]({ root, args, caller, trail, info, terms })
  }
}

function actionOf({ action, name }: RootField): keyof typeof WRITES {
  if (action === 'localize') return 'createLocalization'
  if (action === 'find' || action === 'findOne') throw new TypeError(`${name} is not a mutation`)
  return action
}

async function create(call: MutationCall): Promise<MutationResponse> {
  const { root, args, caller, terms } = call
  const place = toLocation(call, null)
  const answer = toAnswerQuery(call, place, 'create')
  const command = toCreate(place, parseWriteInput(root.type, args.data))
  return toResponse(await terms.documents.create(permit(command, caller), answer))
}

async function update(call: MutationCall): Promise<MutationResponse> {
  const { root, args, caller, terms } = call
  const named = await findTarget(call)
  const place = toLocation(call, named)
  const answer = toAnswerQuery(call, place, 'update')
  const input = parseWriteInput(root.type, args.data)
  const { draft, published } = toUpdates(place, named?.documentId ?? null, input)
  const updated =
    root.type.draftAndPublish && draft !== published
      ? await terms.documents.amend(
          { draft: permit(draft, caller), published: attempt(() => permit(published, caller)) },
          answer,
        )
      : await terms.documents.update(permit(published, caller), answer)
  if (!updated.ok && root.type.kind === 'single' && updated.reasons[0]?.code !== 'forbidden')
    return { data: () => unwrap(updated) as never }
  return !updated.ok && updated.reasons[0]?.code === 'notFound' ? NOTHING : toResponse(updated)
}

async function remove(call: MutationCall): Promise<MutationResponse> {
  const { root, caller, terms } = call
  const named = await findTarget(call)
  const place = toLocation(call, named)
  const answer = toAnswerQuery(call, place, 'delete')
  const command = {
    ...place,
    kind: 'delete',
    documentId: named?.documentId ?? null,
    precondition: null,
  } as const
  const text = unwrap(await terms.documents.delete(permit(command, caller), [], answer))
  if (text === null && root.type.kind === 'single') throw new RequestFault(NOT_FOUND)
  return { data: text === null ? null : JSON.parse(text) }
}

async function localize(call: MutationCall): Promise<MutationResponse> {
  const { root, args, caller, terms } = call
  const named = await findTarget(call)
  const place = toLocation(call, null)
  const answer = toAnswerQuery(call, place, 'createLocalization')
  if (args.locale === undefined || args.locale === null)
    throw new RequestFault(fault('application', 'locale is missing'))
  const command = toLocalize(place, named?.documentId ?? null, parseWriteInput(root.type, args.data))
  const made = await terms.documents.update(permit(command, caller), answer)
  if (!made.ok && made.reasons[0]?.code === 'notFound') throw new RequestFault(NOT_FOUND)
  return toResponse(made)
}

const WRITES = { create, update, delete: remove, createLocalization: localize } satisfies Partial<
  Record<WriteAction, MutationHandler>
>

const NOTHING: MutationResponse = { data: null }

const NOT_FOUND: Fault = fault('notFound', 'Entity not found')

/** No document has this id. Unknown and hidden documents take the same path, so that no check tells them apart. */
const UNKNOWN_DOCUMENT: NamedDocument = { documentId: '', locale: null }

/** null: the document of a single type. */
async function findTarget({ root: { type }, args, terms }: MutationCall): Promise<NamedDocument | null> {
  if (type.kind === 'single') return null
  return (await findDocument(type, args.id, terms)) ?? UNKNOWN_DOCUMENT
}

function toLocation(
  { root: { type }, args, terms }: MutationCall,
  named: NamedDocument | null,
): WriteLocation {
  const raw = args.locale ?? named?.locale
  return { type, locale: parseWriteLocale(type, raw, terms.model) }
}

/** The query for the answer, restricted to the caller; refuses (403) callers without the action's permission. */
function toAnswerQuery(
  { root, info, caller, trail, terms }: MutationCall,
  { locale }: WriteLocation,
  action: Action,
): Answer {
  const context = toOperationContext(info, caller, terms)
  const query = parseWriteAnswer({ root, nodes: info.fieldNodes }, locale, context)
  return { query: restrict(query, caller, action), shape: 'flat', ...(trail && { trail }) }
}

function toResponse(written: Result<SavedDocument, Fault>): MutationResponse {
  const { text } = unwrap(written)
  return { data: text === null ? null : JSON.parse(text) }
}

/** The document of an `id` argument. */
interface NamedDocument {
  readonly documentId: string
  /** The locale of the record if a numeric id was given; else null. */
  readonly locale: string | null
}

/** Finds a document without checking permissions. One statement for a numeric id, none for a documentId. null: unknown. */
async function findDocument(
  type: ContentType,
  given: unknown,
  { documents }: Pick<ResolveTerms, 'documents'>,
): Promise<NamedDocument | null> {
  const take = parseIdArgument(given)
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
