import { openRandom } from '../../harness/random.ts'

/** Chance that can be repeated. */
export interface Chance {
  /** A whole number from 0, below the limit. */
  below(limit: number): number
  one<Value>(values: readonly Value[]): Value
  /** True once in so many times. */
  onceIn(times: number): boolean
}

export function chance(seed: number): Chance {
  const below = openRandom(seed)
  return {
    below,
    one(values) {
      const value = values[below(values.length)]
      if (value === undefined) throw new TypeError('nothing to choose from')
      return value
    },
    onceIn: times => below(times) === 0,
  }
}
