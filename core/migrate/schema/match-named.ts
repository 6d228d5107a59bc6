/** Things that have a name inside a table: indexes, checks, foreign keys. */
interface Named {
  readonly name: string
}

export interface Matched<Wanted extends Named, Actual extends Named> {
  /** The same thing under the name that it had. */
  readonly renamed: readonly { readonly wanted: Wanted; readonly actual: Actual }[]
  readonly missing: readonly Wanted[]
  /** Plinth's, and no longer wanted. */
  readonly surplus: readonly Actual[]
  /** Another maker's, under a name that is needed. */
  readonly foreign: readonly Wanted[]
}

/** Which of the wanted things are there, whatever their names; `same` compares all but the name. */
export function match<Wanted extends Named, Actual extends Named>(
  wanted: readonly Wanted[],
  actual: readonly Actual[],
  made: ReadonlySet<string>,
  same: (wanted: Wanted, actual: Actual) => boolean,
): Matched<Wanted, Actual> {
  const byName = new Map(actual.map(one => [one.name, one]))
  const names = new Set(wanted.map(one => one.name))
  const absent = wanted.filter(one => {
    const found = byName.get(one.name)
    return found === undefined || !same(one, found)
  })
  const free = new Set(actual.filter(one => made.has(one.name) && !names.has(one.name)))
  const renamed = absent.flatMap(one => {
    const found = byName.has(one.name) ? undefined : [...free].find(other => same(one, other))
    if (found === undefined) return []
    free.delete(found)
    return [{ wanted: one, actual: found }]
  })
  const missing = absent.filter(one => !renamed.some(pair => pair.wanted === one))
  const outdated = missing.flatMap(one => byName.get(one.name) ?? [])
  return {
    renamed,
    missing: missing.filter(one => !byName.has(one.name) || made.has(one.name)),
    surplus: [...free, ...outdated.filter(one => made.has(one.name))],
    foreign: missing.filter(one => byName.has(one.name) && !made.has(one.name)),
  }
}
