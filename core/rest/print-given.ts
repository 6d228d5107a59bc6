/** A value as the reference's messages show it: indented JSON in which texts and numbers are quoted once more. */
export const printGiven = (value: unknown): string =>
  JSON.stringify(value, (_key, part: unknown) => (isLeaf(part) ? printLeaf(part) : part), 2)

const isLeaf = (part: unknown): boolean => typeof part !== 'object' || part === null

const printLeaf = (part: unknown): unknown => {
  if (typeof part === 'string') return JSON.stringify(part)
  return part === null ? null : String(part)
}
