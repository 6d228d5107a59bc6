import { isDeepStrictEqual } from 'node:util'
import type { GraphQLResolveInfo } from 'graphql'
import type { Caller } from '../../access/caller.ts'
import { restrictModified } from '../../access/restrict/modified-by-middleware.ts'
import { restrict } from '../../access/restrict/restrict.ts'
import { invalidParam } from '../../actions/action-params.ts'
import { parseSearch } from '../../actions/parameters/parse-query.ts'
import { present } from '../../base/plain-data.ts'
import { parseFilter } from '../../query/parse-filter.ts'
import type { Query, RestrictedQuery } from '../../query/query.ts'
import { type GraphqlFormat, wrappersOf } from '../formats/format.ts'
import type { Arguments, OperationContext } from '../parse/operation-context.ts'
import { parseRead, type RootSelection } from '../parse/parse-read.ts'
import type { RootField } from '../sdl/root-fields.ts'
import { toDollarFilter } from '../sdl/to-dollar-filter.ts'
import { countAnswerRows } from './answer-size.ts'
import { findRecord } from './find-records.ts'
import {
  documentWrapper,
  type ExecutionContext,
  type Pagination,
  type ResolveOptions,
  readOptions,
  responsePagination,
  toOperationContext,
} from './resolver-context.ts'

/** The resolver of a query's root field: one statement for its whole selection. */
export function readResolver(root: RootField, options: ResolveOptions) {
  const wrap = documentWrapper(root.type, root.use, options.format)
  const wrappers = wrappersOf(options.model, options.format)
  return async (_: unknown, args: Arguments, execution: ExecutionContext, info: GraphQLResolveInfo) => {
    const { caller } = execution
    const context = toOperationContext(info, caller, options)
    const selected = { root, nodes: info.fieldNodes, args }
    let counts: Pagination | undefined
    const read = async (query: RestrictedQuery): Promise<unknown> => {
      const { text, total } = await options.documents.findRows(query, 'flat', readOptions(execution))
      if (query.take.kind === 'one') return text === null ? null : JSON.parse(text)
      counts = responsePagination(query.take.page, total ?? 0)
      return JSON.parse(text ?? '[]')
    }
    const rows =
      options.aroundActions && !root.type.builtIn
        ? await readInside(selected, { context, caller, options, read })
        : await read(restrict(parseRead(selected, context), caller))
    if (!countAnswerRows(rows, execution, info, wrappers)) return null
    return root.use === 'one' ? wrap(rows) : wrap(rows, () => counts ?? countsOf(rows))
  }
}

/** The counts of a list that a middleware answered itself. */
function countsOf(rows: unknown): Pagination {
  const total = Array.isArray(rows) ? rows.length : 0
  return responsePagination({ start: 0, limit: Math.max(1, total) }, total)
}

/** Reads the documents of a restricted query: a list, or one document; null: none is visible. */
type ReadRows = (query: RestrictedQuery) => Promise<unknown>

interface ReadScope {
  readonly context: OperationContext
  readonly caller: Caller
  readonly options: ResolveOptions
  readonly read: ReadRows
}

/**
 * Runs a root field of a query inside the document middlewares, as REST runs a read. The client's own arguments are
 * authorized first; what middlewares change may use attributes that the caller may not read. The selection of the
 * query decides what is populated: changes of `populate` and `fields` have no effect. Returns the value of the
 * outermost middleware.
 */
export async function readInside(
  selected: RootSelection,
  { context, caller, options, read }: ReadScope,
): Promise<unknown> {
  const { root, args } = selected
  const { format } = context
  const restricted = restrict(parseRead(selected, context), caller)
  const params = await paramsOf(selected, options)
  return options.aroundActions?.({
    type: root.type,
    action: root.use === 'one' ? 'findOne' : 'findMany',
    params,
    caller,
    perform(changed) {
      const differing = differences(params, changed)
      if (Object.keys(differing).length === 0) return read(restricted)
      const query = parseRead({ ...selected, args: { ...args, ...toArguments(differing, format) } }, context)
      return read(restrictModified(withConditions(query, differing), caller))
    },
  })
}

/** The arguments as the parameters of a document action, with filters in REST's grammar. */
async function paramsOf(
  { root: { type, use }, args }: RootSelection,
  options: ResolveOptions,
): Promise<Record<string, unknown>> {
  const { format } = options
  const { locale, sort, pagination, filters, publicationFilter, search } = args
  const status = format.name === 'flat' ? args.status : args.publicationState
  return present({
    documentId: use === 'one' && type.kind !== 'single' ? await documentIdOf(type, args, options) : undefined,
    filters: filters == null ? undefined : toDollarFilter(filters, type, format.entityId),
    sort: sort ?? undefined,
    pagination: pagination ?? undefined,
    search: search ?? undefined,
    locale: locale === format.allLocales ? '*' : (locale ?? undefined),
    status: status == null ? undefined : DRAFTS.has(status) ? 'draft' : 'published',
    publicationFilter:
      typeof publicationFilter === 'string'
        ? publicationFilter.toLowerCase().replaceAll('_', '-')
        : undefined,
  })
}

const DRAFTS: ReadonlySet<unknown> = new Set(['DRAFT', 'PREVIEW'])

/** Nested formats may name a document by its numeric id. */
async function documentIdOf(
  type: RootSelection['root']['type'],
  args: Arguments,
  options: ResolveOptions,
): Promise<unknown> {
  const input = args[keyOf(options.format)]
  if (options.format.name === 'flat' || !/^\d+$/.test(String(input))) return input
  return (await findRecord(type, input, options))?.documentId ?? input
}

const keyOf = ({ name }: GraphqlFormat): string => (name === 'flat' ? 'documentId' : 'id')

type Params = Readonly<Record<string, unknown>>

/** Parameters that a selection decides. */
const SELECTED: ReadonlySet<string> = new Set(['populate', 'fields'])

/** The parameters that middlewares changed; one that they removed is undefined. */
function differences(params: Params, changed: Params): Params {
  const names = new Set([...Object.keys(params), ...Object.keys(changed)])
  const differing = [...names].filter(
    name => !SELECTED.has(name) && !isDeepStrictEqual(params[name], changed[name]),
  )
  return Object.fromEntries(differing.map(name => [name, changed[name]]))
}

/** Changed parameters as arguments of the root field. */
function toArguments(differing: Params, format: GraphqlFormat): Arguments {
  const entries = Object.entries(differing).flatMap(([name, value]): [string, unknown][] => {
    const convert = ARGUMENTS[name]
    if (!convert) throw invalidParam(`Unknown parameter ${name} of a GraphQL query`, name)
    return convert(value, format)
  })
  return Object.fromEntries(entries)
}

type ToArgument = (value: unknown, format: GraphqlFormat) => [string, unknown][]

const ARGUMENTS: Readonly<Record<string, ToArgument>> = {
  documentId: (value, format) => [[keyOf(format), value]],
  sort: value => [['sort', value]],
  search: value => [['search', value]],
  pagination: value => [['pagination', value]],
  locale: (value, { allLocales }) => [['locale', value === '*' ? allLocales : value]],
  status: (value, { name }) =>
    name === 'flat'
      ? [['status', value === 'draft' ? 'DRAFT' : 'PUBLISHED']]
      : [['publicationState', value === 'draft' ? 'PREVIEW' : 'LIVE']],
  publicationFilter: value => [
    ['publicationFilter', value && String(value).toUpperCase().replaceAll('-', '_')],
  ],
  // These have no argument, or another grammar: withConditions reads them.
  filters: () => [],
  _q: () => [],
}

/** Conditions that middlewares set, in REST's grammar. */
function withConditions(query: Query, differing: Params): Query {
  const { filters, _q } = differing
  return {
    ...query,
    ...(Object.hasOwn(differing, 'filters') && {
      filter: filters == null ? null : parseFilter(filters, query.type),
    }),
    ...(Object.hasOwn(differing, '_q') && { search: parseSearch(query.type, _q) }),
  }
}
