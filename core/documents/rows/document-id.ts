import { createHash, randomInt } from 'node:crypto'

const LETTERS = 'abcdefghijklmnopqrstuvwxyz'
const SIGNS = `${LETTERS}0123456789`
const LENGTH = 24

/** reference/rest.md#17-differences-from-strapi: `[a-z][a-z0-9]{23}` */
export const newDocumentId = (): string =>
  Array.from(
    { length: LENGTH },
    (_, place) => SIGNS[randomInt(place === 0 ? LETTERS.length : SIGNS.length)],
  ).join('')

/** A documentId of the same form, derived from the words: equal words give equal ids. */
export function documentIdOf(...words: readonly string[]): string {
  let rest = BigInt(`0x${createHash('sha256').update(JSON.stringify(words)).digest('hex')}`)
  return Array.from({ length: LENGTH }, (_, place) => {
    const base = BigInt(place === 0 ? LETTERS.length : SIGNS.length)
    const sign = SIGNS[Number(rest % base)]
    rest /= base
    return sign
  }).join('')
}
