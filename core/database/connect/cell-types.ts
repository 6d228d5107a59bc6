import type { Cell } from '../database.ts'

export type CellParser = (text: string) => Cell

const asText: CellParser = text => text
const asNumber: CellParser = text => Number(text)
const asBoolean: CellParser = text => text === 't'

/** A count fits; what does not fit exactly stays text rather than lose digits. */
const asSafeInteger: CellParser = text => {
  const number = Number(text)
  return Number.isSafeInteger(number) ? number : text
}

/** By type oid (pg_type): bool, int8, int2, int4, oid, float4, float8. Everything else stays text. */
const PARSERS = new Map<number, CellParser>([
  [16, asBoolean],
  [20, asSafeInteger],
  [21, asNumber],
  [23, asNumber],
  [26, asNumber],
  [700, asNumber],
  [701, asNumber],
])

export const cellParser = (oid: number): CellParser => PARSERS.get(oid) ?? asText
