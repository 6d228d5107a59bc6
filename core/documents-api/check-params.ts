import { didYouMean } from '../base/nearest.ts'
import { isRecord } from '../query/parse-place.ts'
import type { Params } from './act.ts'
import { toPlain } from './to-plain.ts'
import { refuse } from './unwrap-result.ts'

/** Parameters as code gives them → plain ones, all of them known. Throws RequestFault with the nearest known key. */
export function checkParams(raw: unknown, known: readonly string[], name: string): Params {
  if (raw === undefined) return {}
  if (!isRecord(raw)) throw refuse(`${name} takes an object of parameters`, name)
  const params: [string, unknown][] = []
  for (const [key, value] of Object.entries(raw)) {
    if (!known.includes(key))
      throw refuse(
        `Unknown parameter ${key} of ${name}${didYouMean(key, known) || (known.length === 0 ? ': it takes none' : `: it takes ${known.join(', ')}`)}`,
        key,
      )
    if (value !== undefined) params.push([key, toPlain(value, key)])
  }
  return Object.fromEntries(params)
}
