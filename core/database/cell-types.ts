import type { Cell } from './database.ts'

type Parse = (text: string) => Cell

const asText: Parse = text => text
const asNumber: Parse = text => Number(text)
const asBoolean: Parse = text => text === 't'

/** A count fits; what does not fit exactly stays text rather than lose digits. */
const asSafeInteger: Parse = text => {
  const number = Number(text)
  return Number.isSafeInteger(number) ? number : text
}

/** By type oid (pg_type): bool, int8, int2, int4, oid, float4, float8. Everything else stays text. */
const PARSERS = new Map<number, Parse>([
  [16, asBoolean],
  [20, asSafeInteger],
  [21, asNumber],
  [23, asNumber],
  [26, asNumber],
  [700, asNumber],
  [701, asNumber],
])

/** In the form that pg asks for. */
export const cellTypes = {
  getTypeParser: (oid: number): Parse => PARSERS.get(oid) ?? asText,
}
