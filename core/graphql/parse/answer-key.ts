import { createHash } from 'node:crypto'

/** Where a field lies below its row: the keys of `data` and `attributes`, both null in components, and its own. */
export interface FieldPlace {
  readonly data: string | null
  readonly attributes: string | null
  readonly key: string
}

/**
 * Under which key a populate lies in its row: the attribute's name where nothing has an alias, else one that no
 * attribute can have. A field that is asked for twice with different arguments answers twice. Of bounded length:
 * it becomes the name of a column.
 */
export function answerKey({ data, attributes, key }: FieldPlace, attribute: string): string {
  const plain = (data ?? 'data') === 'data' && (attributes ?? 'attributes') === 'attributes'
  if (plain && key === attribute) return key
  const place = createHash('sha256')
    .update(JSON.stringify([data, attributes, key]))
    .digest('hex')
  return `:${place.slice(0, 32)}`
}
