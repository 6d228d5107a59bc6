import type { DeleteCommand, GivenValues, PermittedCommand, UpdateCommand } from '../query/command.ts'
import { isRecord } from '../query/parse-place.ts'
import type { RestrictedQuery } from '../query/query.ts'
import type { ActionCall, ActionTerms, PrepareAction } from './action-call.ts'
import { parseExplained, queryParams } from './action-call.ts'
import { parseListQuery } from './parameters/parse-query.ts'
import { parseDeletedLocale, parseWrittenLocale } from './parameters/parse-version.ts'
import { invalidParam } from './params.ts'
import { authorizeCommand, authorizeQuery } from './prepare-read.ts'
import { parseValues, permitSave } from './prepare-write.ts'

/** Updates the documents that a list finds, in one transaction. Only code has it: REST and GraphQL write one document. */
export const prepareUpdateMany: PrepareAction = (call, terms) => {
  const { type, params } = call
  const found = selectDocuments(call, terms)
  const status = type.draftAndPublish && params.status !== 'published' ? 'draft' : 'published'
  const locale = parseWrittenLocale(type, params.locale, terms.model)
  const values = parseValues(params, call, terms)
  if (type === terms.model.builtIn.user) assertNoAccount(values)
  const commandOf = (documentId: string): PermittedCommand<UpdateCommand> =>
    permitSave({ kind: 'update', type, documentId, locale, status, values, precondition: null }, call, terms)
  // Refusals that concern every document must not depend on whether one is found.
  commandOf('')
  return async () => changed(await changeAll(found, commandOf, terms))
}

/** These end sessions and mailed codes of one user, which only `update` does. */
function assertNoAccount(values: GivenValues): void {
  const name = ['password', 'email', 'username'].find(each => Object.hasOwn(values, each))
  if (name !== undefined) throw invalidParam(`updateMany cannot set ${name} of users: use update`, name)
}

/** Deletes the documents that a list finds, in one transaction. */
export const prepareDeleteMany: PrepareAction = (call, terms) => {
  const { type, params } = call
  const found = selectDocuments(call, terms)
  const locale = parseDeletedLocale(type, params.locale, terms.model)
  const commandOf = (documentId: string): PermittedCommand<DeleteCommand> =>
    authorizeCommand<DeleteCommand>({ kind: 'delete', type, documentId, locale, precondition: null }, call)
  commandOf('')
  return async () => changed(await changeAll(found, commandOf, terms))
}

const changed = (count: number) => ({ kind: 'value', value: { count } }) as const

/** The list of the documents that the caller may see. A missing filter would change every document by mistake. */
function selectDocuments(call: ActionCall, terms: ActionTerms): RestrictedQuery {
  const { data: _, ...params } = queryParams(call, terms)
  if (!isRecord(params.filters))
    throw invalidParam(`filters of ${call.action} must be an object: {} selects all documents`, 'filters')
  const list = parseExplained(call, terms, () =>
    parseListQuery(call.type, { ...params, fields: ['documentId'], sort: 'id' }, terms),
  )
  return authorizeQuery(list.query, call)
}

async function changeAll(
  query: RestrictedQuery,
  commandOf: (documentId: string) => PermittedCommand<UpdateCommand | DeleteCommand>,
  { documents }: ActionTerms,
): Promise<number> {
  const found: readonly { readonly documentId: string }[] = JSON.parse(
    (await documents.findMany(query, 'flat')).text,
  )
  const commands = [...new Set(found.map(({ documentId }) => documentId))].map(commandOf)
  return commands.length === 0 ? 0 : documents.changeMany(commands, query)
}
