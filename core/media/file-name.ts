import { randomBytes } from 'node:crypto'
import { trimCharacter } from '../base/text.ts'

const LONGEST = 255
/** Leaves room for the digits, an extension and the name of a format. */
const LONGEST_SLUG = 200

/** The name that a client gave a file, as the record may keep it: no folders, no control characters, 255 characters. */
export function cleanName(given: string): string {
  const name = given
    // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is taken out
    .replace(/[\u0000-\u001f\u007f]/g, '')
    .split(/[\\/]/)
    .at(-1)
  return shorten((name ?? '').trim()) || 'file'
}

/** Over-long names lose their middle, never their extension. */
function shorten(name: string): string {
  if (name.length <= LONGEST) return name
  const ext = /\.[A-Za-z0-9]{1,10}$/.exec(name)?.[0] ?? ''
  return name.slice(0, LONGEST - ext.length).replace(/[\ud800-\udbff]$/, '') + ext
}

/** contract/rest.md 15: the name with `_` for other characters, `_`, 10 hexadecimal digits. */
export function toHash(name: string, digits: string = randomBytes(5).toString('hex')): string {
  const slug = name
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
    .replace(/[^A-Za-z0-9]+/g, '_')
    .slice(0, LONGEST_SLUG)
  return `${trimCharacter(slug, '_') || 'file'}_${digits}`
}

/** In kB with two decimals, as text: the column is a decimal. */
export const toKilobytes = (bytes: number): string => (bytes / 1000).toFixed(2)
