/** V8 takes two bytes for each character of a text that has one beyond Latin-1. */
const WIDE = /[\u0100-\uffff]/

const bytesOfCharacter = (text: string): number => (WIDE.test(text) ? 2 : 1)

/** Bytes of memory that the characters of a text take. */
export const bytesOf = (text: string): number => text.length * bytesOfCharacter(text)

/** A copy in one piece: what is cut out of a text keeps the whole of it in memory, what is joined all its pieces. */
export function ownText(text: string): string {
  const encoding = bytesOfCharacter(text) === 1 ? 'latin1' : 'utf16le'
  return Buffer.from(text, encoding).toString(encoding)
}
