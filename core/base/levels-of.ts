/** The objects and lists of plain data, level by level from the outside in: so that nothing is too deep for a look at it. */
export function* levelsOf(value: object): Generator<readonly object[]> {
  let level: readonly object[] = [value]
  while (level.length > 0) {
    yield level
    level = level.flatMap(each => Object.values(each).filter(isObject))
  }
}

/** Whether objects and lists lie deeper in one another than `most`: asked before anything walks them with the call stack. */
export function isDeeper(value: unknown, most: number): boolean {
  if (!isObject(value)) return false
  let depth = 0
  for (const _ of levelsOf(value)) if (++depth > most) return true
  return false
}

const isObject = (value: unknown): value is object => typeof value === 'object' && value !== null
