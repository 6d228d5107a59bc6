import { isRecord } from '../query/parse-place.ts'

/** What an input says of a document: its values as REST has them, and when it was published. */
export interface GivenInput {
  readonly data: Readonly<Record<string, unknown>>
  /** null: not at all; undefined: the input does not say. */
  readonly publishedAt: string | null | undefined
}

/** Coerced input → `data`. The other stamps are taken and do nothing (contract/graphql.md 0). */
export function readInput(given: unknown): GivenInput {
  const { createdAt: _created, updatedAt: _updated, publishedAt, ...data } = isRecord(given) ? given : {}
  if (publishedAt === undefined || publishedAt === null) return { data, publishedAt }
  return { data, publishedAt: String(publishedAt) }
}
