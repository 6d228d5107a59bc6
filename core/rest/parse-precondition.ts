import type { Precondition } from '../query/command.ts'

/**
 * `If-Match` (RFC 9110, 13.1.1). null: there is none. Weak tags never match, so they are left out; what is no list
 * of tags names none, so nothing is written under it.
 */
export function parsePrecondition(header: string | undefined): Precondition | null {
  if (header === undefined) return null
  if (header.trim() === '*') return { tags: ['*'] }
  if (!/^[\s,]*$/.test(header.replaceAll(TAG, ''))) return { tags: [] }
  const strong = [...header.matchAll(TAG)].filter(([tag]) => !tag.startsWith('W/'))
  return { tags: strong.map(([, tag = '']) => tag).filter(tag => tag !== '*') }
}

const TAG = /(?:W\/)?"([^"]*)"/g
