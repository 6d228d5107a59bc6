import type { Action } from '../access/actions.ts'
import { trusted, trustedCommand } from '../access/brand.ts'
import { restrictModified } from '../access/restrict/modified-by-middleware.ts'
import { permit } from '../access/restrict/permit.ts'
import { restrict } from '../access/restrict/restrict.ts'
import type { BodyFormat } from '../cache/answer-store.ts'
import type { ScalarAttribute } from '../model/model.ts'
import type { Command, PermittedCommand } from '../query/command.ts'
import type { Filter, Populate, Query, RestrictedQuery, ShapePart, Sort } from '../query/query.ts'
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

/** Restricts a query to its caller. Trusted code may read everything, but not filter or sort by passwords. */
export function authorizeQuery(
  query: Query,
  { caller, original }: Pick<ActionCall, 'caller' | 'original'>,
  action?: Action,
): RestrictedQuery {
  const password = caller ? undefined : findPassword(query)
  if (password) throw invalidParam(`Invalid key ${password.name}: a password is no condition`, password.name)
  if (!caller) return trusted(query)
  return original ? restrictModified(query, caller, action) : restrict(query, caller, action)
}

/** Checks a command against the permissions of its caller. */
export const authorizeCommand = <Kind extends Command>(
  command: Kind,
  { caller }: Pick<ActionCall, 'caller'>,
): PermittedCommand<Kind> => (caller ? permit(command, caller) : trustedCommand(command))

/** Finds a password that a query filters or sorts by: conditions would disclose its value. */
function findPassword({ filter, sort, selection }: Query): ScalarAttribute | undefined {
  return inConditions(filter, sort) ?? inPopulates(selection.populate)
}

const isPassword = ({ type }: ScalarAttribute): boolean => type === 'password'

const inConditions = (filter: Filter | null, sort: readonly Sort[]): ScalarAttribute | undefined =>
  (filter ? compared(filter) : []).find(isPassword) ?? sort.map(({ attribute }) => attribute).find(isPassword)

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

function inPopulates(populates: readonly Populate[]): ScalarAttribute | undefined {
  for (const populate of populates) {
    const found = inPopulate(populate)
    if (found) return found
  }
  return undefined
}

const inPart = ({ filter, selection }: ShapePart): ScalarAttribute | undefined =>
  inConditions(filter ?? null, []) ?? inPopulates(selection.populate)

function inPopulate(populate: Populate): ScalarAttribute | undefined {
  if ('parts' in populate) return populate.parts.map(inPart).find(found => found !== undefined)
  return inConditions(populate.filter, populate.sort) ?? inPopulates(populate.selection.populate)
}
