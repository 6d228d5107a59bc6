import type { Precondition } from '../query/command.ts'

/** `If-Match` (RFC 9110, 13.1.1): weak tags never match, so they are left out. null: there is none. */
export function parsePrecondition(header: string | undefined): Precondition | null {
  if (header === undefined) return null
  if (header.trim() === '*') return { tags: ['*'] }
  const tags = header.split(',').flatMap(each => /^\s*"([^"]*)"\s*$/.exec(each)?.[1] ?? [])
  return { tags }
}
