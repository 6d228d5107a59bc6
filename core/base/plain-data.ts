/** Yields the objects and arrays of plain data level by level, outermost first. Iterative, so that no depth overflows the call stack. */
export function* nestingLevels(value: object): Generator<readonly object[]> {
  let level: readonly object[] = [value]
  while (level.length > 0) {
    yield level
    level = objectsIn(level)
  }
}

function objectsIn(values: readonly object[]): readonly object[] {
  const found: object[] = []
  for (const value of values)
    for (const each of Array.isArray(value) ? value : Object.values(value))
      if (isObject(each)) found.push(each)
  return found
}

/** True if objects and arrays nest deeper than `most`. Call this before any recursive walk over untrusted data. */
export function isDeeperThan(value: unknown, most: number): boolean {
  if (!isObject(value)) return false
  let depth = 0
  for (const _ of nestingLevels(value)) if (++depth > most) return true
  return false
}

/**
 * False if the value is or holds an infinite number, as JSON.parse reads `1e400`: JSON.stringify would print null. It is
 * recursive: call isDeeperThan first.
 */
export function hasFiniteNumbers(value: unknown): boolean {
  if (typeof value === 'number') return Number.isFinite(value)
  return !isObject(value) || Object.values(value).every(hasFiniteNumbers)
}

/** True if the value is a mapping: neither null nor a list. */
export const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  isObject(value) && !Array.isArray(value)

const isObject = (value: unknown): value is object => typeof value === 'object' && value !== null

/** True if two values of JSON are equal, whatever the order of their keys. */
export function isSameJson(a: unknown, b: unknown): boolean {
  if (a === b) return true
  if (!isObject(a) || !isObject(b)) return false
  if (Array.isArray(a))
    return Array.isArray(b) && a.length === b.length && a.every((each, index) => isSameJson(each, b[index]))
  if (!isRecord(a) || !isRecord(b)) return false
  const keys = Object.keys(a)
  return (
    keys.length === Object.keys(b).length &&
    keys.every(key => Object.hasOwn(b, key) && isSameJson(a[key], b[key]))
  )
}

/** Freezes plain objects and arrays recursively; cycles are allowed. The contents of maps and sets are not frozen. */
export function deepFreeze<Value>(value: Value): Value {
  if (value === null || typeof value !== 'object' || Object.isFrozen(value)) return value
  if (value instanceof Map) Object.assign(value, READ_ONLY)
  Object.freeze(value)
  for (const child of Object.values(value)) deepFreeze(child)
  return value
}

/** Object.freeze() leaves the entries of a map changeable. */
const READ_ONLY = { set: refuseChange, delete: refuseChange, clear: refuseChange }

function refuseChange(): never {
  throw new TypeError('This map is frozen')
}

type Present<Shape> = { [Key in keyof Shape]?: Exclude<Shape[Key], undefined> }

/** Drops keys whose value is undefined: optional keys are absent, never undefined. */
export const present = <Shape extends object>(shape: Shape): Present<Shape> =>
  Object.fromEntries(Object.entries(shape).filter(([, value]) => value !== undefined)) as Present<Shape>

/** Adds values to the end of a list. `push(...values)` throws for more values than a call can have arguments, some 120,000. */
export function addAll<Value>(list: Value[], values: readonly Value[]): void {
  for (const value of values) list.push(value)
}

/** Values by what they have in common, both in the order of their first appearance. */
export function groupBy<Value, Key>(
  values: Iterable<Value>,
  keyOf: (value: Value) => Key,
): ReadonlyMap<Key, readonly Value[]> {
  const groups = new Map<Key, Value[]>()
  for (const value of values) {
    const key = keyOf(value)
    const group = groups.get(key)
    if (group) group.push(value)
    else groups.set(key, [value])
  }
  return groups
}
