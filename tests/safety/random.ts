import type { Random } from '../end-to-end/fuzz.ts'

export const below = (random: Random, count: number): number => Math.floor(random() * count)

export function pick<Item>(random: Random, items: readonly Item[]): Item {
  const item = items[below(random, items.length)]
  if (item === undefined) throw new RangeError('nothing to pick from')
  return item
}

/** This many of the items, in their order; all of them if there are fewer. */
export function sample<Item>(random: Random, items: readonly Item[], count: number): readonly Item[] {
  const share = count / items.length
  return share >= 1 ? items : items.filter(() => random() < share)
}
