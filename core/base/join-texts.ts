/** In UTF-8; bytes are taken over as they are. Text where all of it is. */
export function joinTexts(parts: readonly (string | Buffer)[]): string | Buffer {
  if (parts.every(part => typeof part === 'string')) return parts.join('')
  return Buffer.concat(parts.map(part => (typeof part === 'string' ? Buffer.from(part) : part)))
}
