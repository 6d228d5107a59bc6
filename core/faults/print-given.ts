/** A value as the reference's messages show it: in lists and objects, texts and numbers are quoted once more. */
export const printGiven = (value: unknown): string => {
  if (typeof value !== 'object' || value === null) return String(value)
  return JSON.stringify(value, (_key, part: unknown) => (isLeaf(part) ? printLeaf(part) : part), 2)
}

const isLeaf = (part: unknown): boolean => typeof part !== 'object' || part === null

const printLeaf = (part: unknown): unknown => {
  if (typeof part === 'string') return JSON.stringify(part)
  return part === null ? null : String(part)
}
