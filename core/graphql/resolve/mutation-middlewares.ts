import { isDeepStrictEqual } from 'node:util'
import type { WriteAction } from '../../access/caller.ts'
import { permitModified } from '../../access/restrict/modified-by-middleware.ts'
import { permit } from '../../access/restrict/permit.ts'
import { isRecord, present } from '../../base/plain-data.ts'
import type { ContentType } from '../../model/model.ts'
import type { DocumentAction } from '../../plugins/services/documents-api.ts'
import type { CreateCommand, GivenValues, PermittedCommand, UpdateCommand } from '../../query/command.ts'
import type { Arguments } from '../parse/operation-context.ts'
import type { MutationCall, Mutations } from './resolve-write.ts'

/** How a format names the document of a mutation. */
export interface MutationFormat {
  /** `id` or `documentId` */
  readonly key: string
  parseValues(type: ContentType, data: unknown): GivenValues
  /** The document that the arguments name, with the locale that they imply; null: the only one of a single type. */
  target(call: MutationCall): Promise<MutationTarget | null>
  /** The document in the answer of a mutation, and the answer with another one. */
  documentOf(answer: unknown): unknown
  withDocument(answer: unknown, document: unknown): unknown
}

interface MutationTarget {
  readonly documentId: string
  readonly locale: string | null
}

type RunMutation = (call: MutationCall) => Promise<unknown>

/** Runs each mutation inside the document middlewares of the project. Without any, the mutations stay as they are. */
export function insideMiddlewares(mutations: Mutations, format: MutationFormat): Mutations {
  const wrapped = Object.entries(mutations).map(([action, run]): [string, RunMutation] => [
    action,
    call => (call.terms.aroundActions ? runInside(action as WriteAction, run, { call, format }) : run(call)),
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
  const { root, args, caller, terms } = call
  const isDelete = action === 'delete'
  if (!isDelete) assertPermitted(call, format)
  const params = await paramsOf(call, format)
  let answer: unknown
  const value = await terms.aroundActions?.({
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
      return format.documentOf(answer)
    },
  })
  return format.documentOf(answer) === value ? answer : format.withDocument(answer, value)
}

const ACTIONS: { readonly [Action in WriteAction]?: DocumentAction } = { create: 'create', delete: 'delete' }

function assertPermitted({ root: { type }, args, caller }: MutationCall, format: MutationFormat): void {
  const values = format.parseValues(type, args.data)
  const status = type.draftAndPublish ? 'draft' : 'published'
  permit({ kind: 'update', type, locale: null, documentId: null, status, values, precondition: null }, caller)
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
export function permitSaved<Kind extends CreateCommand | UpdateCommand>(
  command: Kind,
  { root, caller, original }: MutationCall,
  parseValues: MutationFormat['parseValues'],
): PermittedCommand<Kind> {
  if (!original) return permit(command, caller)
  const before = { ...command, values: parseValues(root.type, original.data) }
  return permitModified(command, before, permit(before, caller))
}
