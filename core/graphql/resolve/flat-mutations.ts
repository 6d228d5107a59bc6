import { permit } from '../../access/restrict/permit.ts'
import { fault, isRefusedAs, RequestFault } from '../../faults/fault.ts'
import type { Status } from '../../query/query.ts'
import { storableId } from '../parse/parse-arguments.ts'
import { parseStatus } from '../parse/parse-read.ts'
import { parseFlatInput, parseWriteLocale, toFlatSave, type WriteLocation } from '../parse/parse-write.ts'
import { type MutationCall, type Mutations, toAnswerQuery, toRow } from './resolve-write.ts'
import type { AnsweredRow } from './resolvers.ts'

/** The answer has the status that the mutation writes, down to its relations. */
interface FlatTarget extends WriteLocation {
  readonly status: Status
}

const toTarget = ({ root: { type }, args, terms }: MutationCall): FlatTarget => ({
  type,
  status: parseStatus(args.status),
  locale: parseWriteLocale(type, args.locale, terms.model),
})

async function create(call: MutationCall): Promise<AnsweredRow | null> {
  const { args, caller, terms } = call
  const target = toTarget(call)
  const answer = toAnswerQuery(call, target, 'create')
  const values = parseFlatInput(target.type, args.data)
  const command = { ...toFlatSave(target, values, target.status), kind: 'create' } as const
  return toRow(await terms.documents.create(permit(command, caller), answer))
}

/** null without an error for an unknown document. */
async function update(call: MutationCall): Promise<AnsweredRow | null> {
  const { root, args, caller, terms } = call
  const target = toTarget(call)
  const answer = toAnswerQuery(call, target, 'update')
  const values = parseFlatInput(target.type, args.data)
  const command = {
    ...toFlatSave(target, values, target.status),
    kind: 'update',
    documentId: root.type.kind === 'single' ? null : storableId(args.documentId),
    precondition: null,
  } as const
  const permitted = permit(command, caller)
  try {
    return toRow(await terms.documents.update(permitted, answer))
  } catch (error) {
    if (isRefusedAs(error, 'notFound')) return null
    throw error
  }
}

/** Answers the documentId back, whether or not there was such a document. */
async function remove(call: MutationCall): Promise<AnsweredRow> {
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
export const FLAT_MUTATIONS: Mutations = { create, update, delete: remove }
