import type { Action } from '../access/actions.ts'
import { trusted, trustedCommand } from '../access/brand.ts'
import { isPasswordAttribute } from '../access/readable-attributes.ts'
import { restrictModified } from '../access/restrict/modified-by-middleware.ts'
import { permit } from '../access/restrict/permit.ts'
import { restrict } from '../access/restrict/restrict.ts'
import type { BodyFormat } from '../cache/answer-store.ts'
import type { ScalarAttribute } from '../model/model.ts'
import type { Command, PermittedCommand } from '../query/command.ts'
import type { Filter, Populate, Query, RestrictedQuery, Selection, Sort } from '../query/query.ts'
import {
  type ActionCall,
  type ActionOptions,
  type ActionResult,
  type PrepareAction,
  parseExplained,
  queryParams,
} from './action-call.ts'
import { invalidParam, type Params, parseDocumentId } from './action-params.ts'
import { type ListQuery, parseListQuery, parseOneQuery } from './parameters/parse-query.ts'

export const prepareFindMany: PrepareAction = (call, options) => {
  const { query, pagination } = parseList(call, options)
  const restricted = authorizeQuery(query, call)
  const { http } = call
  if (http) return () => readBody(restricted, http.listBody(restricted, pagination), { call, options })
  return async () => toResult(JSON.parse((await options.documents.findMany(restricted, 'flat')).text))
}

export const prepareFindFirst: PrepareAction = (call, options) => {
  const query = authorizeQuery(parseList(call, options, { pagination: { limit: '1' } }).query, call)
  return async () => {
    const [first = null] = JSON.parse((await options.documents.findMany(query, 'flat')).text)
    return toResult(first)
  }
}

export const prepareCount: PrepareAction = (call, options) => {
  const listed = parseList(call, options, { fields: ['documentId'] }).query
  const take: Query['take'] = { kind: 'many', page: { start: 0, limit: 1 }, total: true }
  const query = authorizeQuery({ ...listed, take }, call)
  return async () => toResult((await options.documents.findMany(query, 'flat')).total ?? 0)
}

export const prepareFindOne: PrepareAction = (call, options) => {
  const documentId = parseDocumentId(call.params, call.type)
  const params = queryParams(call, options)
  const query = authorizeQuery(
    parseExplained(call, options, () => parseOneQuery(call.type, documentId, params, options)),
    call,
  )
  const { http } = call
  return async () => {
    if (isUnstorable(documentId)) return { kind: 'missing' }
    if (http) return readBody(query, http.documentBody, { call, options })
    const text = await options.documents.findOne(query, 'flat')
    return text === null ? { kind: 'missing' } : { kind: 'document', text }
  }
}

/** PostgreSQL cannot store NUL, so no document has such an id. */
export const isUnstorable = (documentId: string | null): boolean => documentId?.includes('\0') === true

const toResult = (value: unknown): ActionResult => ({ kind: 'value', value })

const parseList = (call: ActionCall, options: ActionOptions, fixed: Params = {}): ListQuery => {
  const params = { ...queryParams(call, options), ...fixed }
  return parseExplained(call, options, () => parseListQuery(call.type, params, options))
}

interface ReadContext {
  readonly call: ActionCall
  readonly options: ActionOptions
}

/** Reads a body through the response cache. */
async function readBody(
  query: RestrictedQuery,
  format: BodyFormat,
  { call: { http }, options: terms }: ReadContext,
): Promise<ActionResult> {
  const { take } = query
  const options = take.kind === 'one' && take.documentId !== null ? { documentId: take.documentId } : {}
  const found = await terms.documents.findBody(
    { ...format, query, shape: http?.shape ?? 'flat' },
    { ...(http && { requestContext: http.requestContext }), ...options },
  )
  return found === null ? { kind: 'missing' } : { kind: 'body', body: found }
}

/** Restricts a query to its caller. Trusted code may read everything but passwords, and may not filter or sort by them. */
export function authorizeQuery(
  query: Query,
  { caller, original }: Pick<ActionCall, 'caller' | 'original'>,
  action?: Action,
): RestrictedQuery {
  if (!caller) {
    refusePasswords(query)
    return trusted(query)
  }
  return original ? restrictModified(query, caller, action) : restrict(query, caller, action)
}

/** Checks a command against the permissions of its caller. */
export const authorizeCommand = <Kind extends Command>(
  command: Kind,
  { caller }: Pick<ActionCall, 'caller'>,
): PermittedCommand<Kind> => (caller ? permit(command, caller) : trustedCommand(command))

/** Refuses a password that a query filters or sorts by, which would disclose its value, or that it names to be answered. */
function refusePasswords({ filter, sort, selection }: Query): void {
  refuseConditions(filter, sort)
  refuseSelected(selection)
}

const refusePassword = (attributes: readonly ScalarAttribute[], reason: string): void => {
  const password = attributes.find(isPasswordAttribute)
  if (password) throw invalidParam(`Invalid key ${password.name}: ${reason}`, password.name)
}

const refuseConditions = (filter: Filter | null, sort: readonly Sort[]): void =>
  refusePassword(
    [...(filter ? compared(filter) : []), ...sort.map(({ attribute }) => attribute)],
    'a password is no condition',
  )

/** `fields` that are not named are all of them, of which passwords are left out. */
function refuseSelected({ fields, named, populate }: Selection): void {
  if (named) refusePassword(fields, 'a password is never answered')
  for (const each of populate) refusePopulated(each)
}

function compared(filter: Filter): readonly ScalarAttribute[] {
  switch (filter.kind) {
    case 'and':
    case 'or':
      return filter.filters.flatMap(compared)
    case 'not':
    case 'related':
      return compared(filter.filter)
    case 'comparison':
      return [filter.attribute]
  }
}

function refusePopulated(populate: Populate): void {
  const parts = 'parts' in populate ? populate.parts : [populate]
  for (const { filter = null, selection, ...part } of parts) {
    refuseConditions(filter, 'sort' in part ? part.sort : [])
    refuseSelected(selection)
  }
}
