const MILLISECONDS: Readonly<Record<string, number>> = {
  ms: 1,
  s: 1000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
}
const BYTES: Readonly<Record<string, number>> = { b: 1, kb: 1024, mb: 1024 ** 2, gb: 1024 ** 3 }

/** Parses a duration such as `15s` to milliseconds. `bare`: the unit of a plain number, in milliseconds. */
export const toMilliseconds = (said: string | number, bare = 1): number => amount(said, MILLISECONDS, bare)

/** Parses a size such as `1mb` (1024-based) to bytes. A plain number is in bytes. */
export const toBytes = (said: string | number): number => amount(said, BYTES, 1)

function amount(said: string | number, units: Readonly<Record<string, number>>, bare: number): number {
  const [, number, unit = ''] = /^([\d.]+)\s*([a-z]*)$/i.exec(String(said)) ?? []
  return Math.round(Number(number) * (units[unit.toLowerCase()] ?? bare))
}
