import { createHash, randomFillSync } from 'node:crypto'

const LETTERS = 'abcdefghijklmnopqrstuvwxyz'
const SIGNS = `${LETTERS}0123456789`
const LENGTH = 24

/** reference/rest.md#17-differences-from-strapi: `[a-z][a-z0-9]{23}` */
export function newDocumentId(): string {
  let id = ''
  while (id.length < LENGTH) {
    const signs = id === '' ? LETTERS : SIGNS
    const byte = randomByte()
    // The bytes above the last whole multiple would make the first signs more likely.
    if (byte < 256 - (256 % signs.length)) id += signs[byte % signs.length]
  }
  return id
}

/** One call of the system for many ids. */
const random = new Uint8Array(4096)
let used = random.length

function randomByte(): number {
  if (used === random.length) {
    randomFillSync(random)
    used = 0
  }
  return random[used++] ?? 0
}

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
