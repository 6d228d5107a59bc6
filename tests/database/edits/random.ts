/** Chance that can be repeated. */
export interface Chance {
  /** A whole number from 0, below the limit. */
  below(limit: number): number
  one<Value>(values: readonly Value[]): Value
  /** True once in so many times. */
  onceIn(times: number): boolean
}

/** Mulberry32. */
export function chance(seed: number): Chance {
  let state = seed
  const below = (limit: number): number => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) % limit
  }
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
