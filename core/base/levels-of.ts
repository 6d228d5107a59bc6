/** The objects and lists of plain data, level by level from the outside in: so that nothing is too deep for a look at it. */
export function* levelsOf(value: object): Generator<readonly object[]> {
  let level: readonly object[] = [value]
  while (level.length > 0) {
    yield level
    level = level.flatMap(each => Object.values(each).filter(isObject))
  }
}

const isObject = (value: unknown): value is object => typeof value === 'object' && value !== null
