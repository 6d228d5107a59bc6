import { identityColumn, requiredColumn, toIndex } from './columns.ts'
import { constraintName, digestOf } from './identifiers.ts'
import type { ContentType } from './model.ts'
import type { SearchText, Table, TypeSearch } from './storage.ts'

/** What tables of words serve: their rows are made from others, so they are dropped without consent. */
export const SERVES_WORDS = 'search words of '

/**
 * The words of the searched texts of a type, by text (`wordSourceOf`), so that a caller's typing errors are corrected to words of readable texts
 * only. Triggers add words that are missing. A word may have several rows: a unique index would make writers wait for each other.
 */
export function wordsTable(type: ContentType, { words }: TypeSearch): Table | null {
  if (words === null) return null
  return {
    name: words,
    serves: `${SERVES_WORDS}content-type \`${type.key}\``,
    columns: [
      { ...identityColumn('id'), type: 'bigint' },
      requiredColumn('source', 'text'),
      requiredColumn('word', 'text'),
    ],
    primaryKey: ['id'],
    indexes: [
      toIndex(words, ['word', 'source']),
      {
        name: constraintName(words, 'word', 'text'),
        ...{ columns: [], unique: false, where: null, method: 'gin' },
        trigrams: { column: 'word', isText: false },
      },
    ],
    checks: [],
    foreignKeys: [],
    versioned: false,
  }
}

/** Identifies a text in the table of words. */
export const wordSourceOf = ({ column, blocks, component }: SearchText): string =>
  digestOf({ column, blocks, component })
