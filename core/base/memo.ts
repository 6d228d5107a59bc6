/** Calls `compute` at the first call and returns the same result at every later one. If it throws, the next call tries again. */
export function once<Value>(compute: () => Value): () => Value {
  let result: { readonly value: Value } | null = null
  return () => {
    result ??= { value: compute() }
    return result.value
  }
}

/**
 * Like `once` for a promise: calls share one run and its value. A rejection is not remembered: a missing file handle or a
 * lost connection at one moment must not fail every later call of this process.
 */
export function onceResolved<Value>(open: () => Promise<Value>): () => Promise<Value> {
  let opening: Promise<Value> | null = null
  return () => {
    opening ??= open().catch((error: unknown) => {
      opening = null
      throw error
    })
    return opening
  }
}

/** Remembers the result for each key, by identity. A result is freed together with its key. */
export function memoize<Key extends object, Value>(compute: (key: Key) => Value): (key: Key) => Value {
  const results = new WeakMap<Key, { readonly value: Value }>()
  return key => {
    const known = results.get(key)
    if (known) return known.value
    const value = compute(key)
    results.set(key, { value })
    return value
  }
}
