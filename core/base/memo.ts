/** Calls `compute` at the first call and returns the same result at every later one. If it throws, the next call tries again. */
export function once<Value>(compute: () => Value): () => Value {
  let result: { readonly value: Value } | null = null
  return () => {
    result ??= { value: compute() }
    return result.value
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
