import { failed, ok, type Result } from '../../base/result.ts'
import { type Fault, fault } from '../../faults/fault.ts'
import type { Page } from '../../query/query.ts'

export interface PageLimits {
  readonly amountLimit: number
  readonly defaultLimit: number
}

/** `PaginationArg` (contract/graphql.md 5): ten unless asked otherwise, never more than `amountLimit`; `limit: -1` asks for all. */
export function parsePage(raw: unknown, limits: PageLimits): Result<Page, Fault> {
  const given = raw !== null && typeof raw === 'object' ? (raw as Readonly<Record<string, unknown>>) : {}
  const paged = given.page != null || given.pageSize != null
  if (paged && (given.start != null || given.limit != null))
    return failed(fault('pagination', 'Cannot use both page & offset pagination in the same query'))
  if (!paged) {
    const limit = given.limit === -1 ? limits.amountLimit : amount(given.limit, limits)
    return ok({ start: Math.max(0, Number(given.start ?? 0)), limit })
  }
  const limit = amount(given.pageSize, limits)
  return ok({ start: (Math.max(1, Number(given.page ?? 1)) - 1) * limit, limit })
}

const amount = (raw: unknown, { amountLimit, defaultLimit }: PageLimits): number =>
  Math.min(amountLimit, Math.max(1, Number(raw ?? defaultLimit)))
