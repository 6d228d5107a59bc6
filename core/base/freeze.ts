/** Freezes plain objects, arrays and everything they hold; cycles are fine. Maps and sets are left to their types. */
export function deepFreeze<Value>(value: Value): Value {
  if (value === null || typeof value !== 'object' || Object.isFrozen(value)) return value
  Object.freeze(value)
  for (const child of Object.values(value)) deepFreeze(child)
  return value
}
