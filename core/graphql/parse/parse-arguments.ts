import { fault, RequestFault } from '../../faults/fault.ts'
import type { Holder } from '../../model/model.ts'
import { parseFilter } from '../../query/parse-filter.ts'
import { isRecord } from '../../query/parse-place.ts'
import { parseSort } from '../../query/parse-sort.ts'
import type { Filter, Page, Query, Sort } from '../../query/query.ts'
import type { GraphqlFormat } from '../formats/format.ts'
import { toDollarFilter } from '../sdl/to-dollar-filter.ts'

export interface PageLimits {
  readonly amountLimit: number
  readonly defaultLimit: number
}

/**
 * Parses `PaginationArg` (reference/graphql.md#5-pagination): `defaultLimit` if absent, at most `amountLimit`; `limit: -1`
 * is the maximum. Throws a RequestFault.
 */
export function parsePage(raw: unknown, limits: PageLimits): Page {
  const page = readPage(raw, limits)
  if (page) return page
  throw new RequestFault(fault('pagination', 'Cannot use both page & offset pagination in the same query'))
}

/** null: the argument uses both page and offset pagination. */
export function readPage(raw: unknown, limits: PageLimits): Page | null {
  const args = isRecord(raw) ? raw : {}
  const paged = args.page != null || args.pageSize != null
  if (paged && (args.start != null || args.limit != null)) return null
  if (!paged) {
    const limit = args.limit === -1 ? limits.amountLimit : amount(args.limit, limits)
    return { start: Math.max(0, Number(args.start ?? 0)), limit }
  }
  const limit = amount(args.pageSize, limits)
  return { start: (Math.max(1, Number(args.page ?? 1)) - 1) * limit, limit }
}

const amount = (raw: unknown, { amountLimit, defaultLimit }: PageLimits): number =>
  Math.min(amountLimit, Math.max(1, Number(raw ?? defaultLimit)))

type TakeOne = Extract<Query['take'], { readonly kind: 'one' }>

/** Parses an `id` argument: a documentId, or the numeric id of a record (reference/graphql.md#0-decisions). */
export function parseIdArgument(raw: unknown): TakeOne {
  const id = storableId(raw)
  const recordId = /^\d+$/.test(id) ? Number(id) : Number.NaN
  return Number.isSafeInteger(recordId)
    ? { kind: 'one', documentId: null, recordId }
    : { kind: 'one', documentId: id }
}

/** PostgreSQL cannot store NUL, so no document has such an id; no document has the empty one either. */
export function storableId(raw: unknown): string {
  const id = String(raw ?? '')
  return id.includes('\0') ? '' : id
}

/** Parses the arguments `filters` and `sort` of a list. Throws a RequestFault. */
export function parseRows(
  holder: Holder,
  args: Readonly<Record<string, unknown>>,
  { entityId }: Pick<GraphqlFormat, 'entityId'>,
): { readonly filter: Filter | null; readonly sort: readonly Sort[] } {
  const filter =
    args.filters == null
      ? null
      : withOwnOperators(() => parseFilter(toDollarFilter(args.filters, holder, entityId), holder))
  return { filter, sort: parseSort(args.sort ?? [], holder) }
}

/** Faults name operators as GraphQL has them: `between`, not `$between`. */
function withOwnOperators<Parsed>(parse: () => Parsed): Parsed {
  try {
    return parse()
  } catch (error) {
    if (!(error instanceof RequestFault)) throw error
    const { message, details, ...others } = error.fault
    const { key } = details
    if (typeof key !== 'string' || !key.startsWith('$')) throw error
    const own = key.slice(1)
    // A function: `$` has a meaning in a text that replaces.
    throw new RequestFault({
      ...others,
      message: message.replace(key, () => own),
      details: { ...details, key: own },
    })
  }
}
