import type { Action } from '../../access/actions.ts'
import { trusted } from '../../access/brand.ts'
import { permit } from '../../access/restrict/permit.ts'
import { isRecord } from '../../base/plain-data.ts'
import type { Answer, SavedDocument } from '../../documents/documents.ts'
import { attempt, type Fault, fault, isRefusedAs, RequestFault } from '../../faults/fault.ts'
import type { ContentType } from '../../model/model.ts'
import type { CreateCommand, UpdateCommand } from '../../query/command.ts'
import type { Query, Status } from '../../query/query.ts'
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
import { insideMiddlewares, type MutationFormat, permitSaved } from './mutation-middlewares.ts'
import type { ResolveTerms } from './resolve-read.ts'
import { type MutationCall, type Mutations, toAnswerQuery, toRow } from './resolve-write.ts'
import type { AnsweredRow } from './resolvers.ts'

/** The result of a mutation; `data` is a function if reading it must fail. */
interface MutationResponse {
  readonly data: AnsweredRow | null | (() => never)
}

/** The mutations of the nested format (reference/graphql.md#6-writing). */
async function create(call: MutationCall): Promise<MutationResponse> {
  const { root, args, terms } = call
  const place = toLocation(call, null)
  const answer = answerQuery(call, place, 'create')
  const command = toCreate(place, parseWriteInput(root.type, args.data))
  return toNested(await terms.documents.create(permitNested(command, call), answer))
}

async function update(call: MutationCall): Promise<MutationResponse> {
  const { root, args, terms } = call
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
        ? await terms.documents.amend(save, answer)
        : await terms.documents.update(save, answer),
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
  const { root, caller, terms } = call
  const named = await findTarget(call)
  const place = toLocation(call, named)
  const answer = answerQuery(call, place, 'delete')
  const command = {
    ...place,
    kind: 'delete',
    documentId: named?.documentId ?? null,
    precondition: null,
  } as const
  const text = await terms.documents.delete(permit(command, caller), [], answer)
  if (text === null && root.type.kind === 'single') throw new RequestFault(NOT_FOUND)
  return { data: text === null ? null : JSON.parse(text) }
}

async function localize(call: MutationCall): Promise<MutationResponse> {
  const { root, args, terms } = call
  const named = await findTarget(call)
  const place = toLocation(call, null)
  const answer = answerQuery(call, place, 'createLocalization')
  if (args.locale === undefined || args.locale === null)
    throw new RequestFault(fault('application', 'locale is missing'))
  const command = toLocalize(place, named?.documentId ?? null, parseWriteInput(root.type, args.data))
  const permitted = permitNested(command, call)
  try {
    return toNested(await terms.documents.update(permitted, answer))
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
    target: findTarget,
    documentOf: answer =>
      isRecord(answer) && typeof answer.data !== 'function' ? (answer.data ?? null) : null,
    withDocument: (_answer, data) => ({ data }),
  },
)

const NO_DATA: MutationResponse = { data: null }

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

/** The answer has the status that the mutation writes, down to its relations. */
interface FlatTarget extends WriteLocation {
  readonly status: Status
}

const toTarget = ({ root: { type }, args, terms }: MutationCall): FlatTarget => ({
  type,
  status: parseStatus(args.status),
  locale: parseWriteLocale(type, args.locale, terms.model),
})

async function createFlat(call: MutationCall): Promise<AnsweredRow | null> {
  const { args, terms } = call
  const target = toTarget(call)
  const answer = toAnswerQuery(call, target, 'create')
  const values = parseFlatInput(target.type, args.data)
  const command = { ...toFlatSave(target, values, target.status), kind: 'create' } as const
  return toRow(await terms.documents.create(permitSaved(command, call, parseFlatInput), answer))
}

/** null without an error for an unknown document. */
async function updateFlat(call: MutationCall): Promise<AnsweredRow | null> {
  const { root, args, terms } = call
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
    return toRow(await terms.documents.update(permitted, answer))
  } catch (error) {
    if (isRefusedAs(error, 'notFound')) return null
    throw error
  }
}

/** Answers the documentId back, whether or not there was such a document. */
async function removeFlat(call: MutationCall): Promise<AnsweredRow> {
  const { root, args, caller, terms } = call
  const { type } = root
  const isSingle = type.kind === 'single'
  const locale =
    args.locale === terms.format.allLocales ? null : parseWriteLocale(type, args.locale, terms.model)
  const documentId = isSingle ? null : storableId(args.documentId)
  const command = { kind: 'delete', type, locale, documentId, precondition: null } as const
  const answer = isSingle ? toAnswerQuery(call, { status: 'latest', locale }, 'delete') : null
  const text = await terms.documents.delete(permit(command, caller), [], answer)
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
    target: async ({ args }) => ({ documentId: storableId(args.documentId) ?? '', locale: null }),
    documentOf: answer => answer ?? null,
    withDocument: (_answer, document) => document,
  },
)
