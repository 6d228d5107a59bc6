import { createHash } from 'node:crypto'
import { trimDecimal } from '../../base/text.ts'
import type { ColumnType } from '../../model/storage.ts'

/**
 * The text constants of an expression that PostgreSQL printed back, in order. It rewrites what was given
 * (`IN` becomes `= ANY (ARRAY[…])`, casts are added), but it keeps the constants and their order.
 */
export function literalsOf(expression: string): readonly string[] {
  return [...expression.matchAll(/"(?:[^"]|"")*"|'((?:[^']|'')*)'/g)].flatMap(([, literal]) =>
    literal === undefined ? [] : [literal.replaceAll("''", "'")],
  )
}

export const sameList = (one: readonly unknown[], other: readonly unknown[]): boolean =>
  one.length === other.length && one.every((value, index) => value === other[index])

/** Identifies the body of a function as the catalogue's statement does (`bodyDigest`). */
export const digestOfBody = (body: string): string => createHash('md5').update(body).digest('hex')

/** True if a column's default, as PostgreSQL prints it, equals this constant. */
export function sameDefault(
  type: ColumnType,
  wanted: string | number | boolean | undefined,
  actual: string | null,
): boolean {
  if (wanted === undefined || actual === null) return wanted === undefined && actual === null
  const constant = constantOf(actual)
  return constant !== null && canonical(type, constant) === canonical(type, String(wanted))
}

function constantOf(expression: string): string | null {
  const quoted = /^'((?:[^']|'')*)'(?:::.*)?$/s.exec(expression)?.[1]
  if (quoted !== undefined) return quoted.replaceAll("''", "'")
  return /^\(?(-?[\d.]+(?:e[+-]?\d+)?|true|false)\)?(?:::.*)?$/i.exec(expression)?.[1] ?? null
}

function canonical(type: ColumnType, constant: string): string {
  if (type === 'double precision' || type === 'numeric(10,2)') return String(Number(constant))
  if (type === 'time(3)') return trimDecimal(constant)
  if (type === 'timestamptz(3)') return canonicalTime(constant)
  return type === 'jsonb' ? canonicalJson(constant) : constant
}

function canonicalTime(constant: string): string {
  const time = Date.parse(constant.replace(' ', 'T').replace(/([+-]\d\d)$/, '$1:00'))
  return Number.isNaN(time) ? constant : new Date(time).toISOString()
}

function canonicalJson(constant: string): string {
  const sorted = (_: string, value: unknown): unknown =>
    value !== null && typeof value === 'object' && !Array.isArray(value)
      ? Object.fromEntries(Object.entries(value).sort(([one], [other]) => (one < other ? -1 : 1)))
      : value
  try {
    return JSON.stringify(JSON.parse(constant), sorted)
  } catch {
    return constant
  }
}
