import { failed, ok, type Result } from '../../base/result.ts'
import { type Fault, fault } from '../../faults/fault.ts'
import type { Page } from '../../query/query.ts'
import type { Parameters } from '../parse-query-string.ts'

/**
 * Of bare lists (contract/rest.md 14 and 15): `start` and `limit` stand at the top, `pagination` means nothing. No limit
 * at all, which an empty one, 0 and -1 are in the reference, is the most there is.
 */
export function parseTopPage({ start, limit }: Parameters, most: number): Result<Page, Fault> {
  const from = parseCount(start, 0)
  if (from === null) return failed(notCount('start'))
  const number = limit === '-1' || limit === '0' ? most : parseCount(limit, most)
  if (number === null) return failed(notCount('limit'))
  return ok({ start: from, limit: Math.min(number, most) })
}

const parseCount = (raw: unknown, fallback: number): number | null => {
  if (raw === undefined || raw === '') return fallback
  return typeof raw === 'string' && /^\d{1,9}$/.test(raw) ? Number(raw) : null
}

const notCount = (key: string): Fault =>
  fault('validation', `Invalid ${key}: expected a number from 0`, { key, expected: 'a number from 0' })
