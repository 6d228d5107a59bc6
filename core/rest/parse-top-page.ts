import { failed, ok, type Result } from '../base/result.ts'
import { type Fault, fault } from '../faults/fault.ts'
import type { Page } from '../query/query.ts'
import type { Parameters } from './parse-query-string.ts'

/** Of bare lists (contract/rest.md 14 and 15): `start` and `limit` stand at the top, `pagination` means nothing. */
export function parseTopPage({ start, limit }: Parameters, most: number): Result<Page, Fault> {
  const from = parseCount(start, 0)
  if (from === null) return failed(notCount('start'))
  const number = parseCount(limit, most)
  if (number === null) return failed(notCount('limit'))
  return ok({ start: from, limit: Math.min(number, most) })
}

const parseCount = (raw: unknown, fallback: number): number | null => {
  if (raw === undefined) return fallback
  return typeof raw === 'string' && /^\d{1,9}$/.test(raw) ? Number(raw) : null
}

const notCount = (key: string): Fault =>
  fault('validation', `Invalid ${key}: expected a number from 0`, { key, expected: 'a number from 0' })
