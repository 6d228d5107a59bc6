import type { Transaction } from '../database/database.ts'
import type { ContentType } from '../model/model.ts'
import type { Storage } from '../model/storage.ts'
import { quoteIdentifier as name } from '../sql/identifier.ts'
import { isKey } from './storage/file-storage.ts'

/** What is needed of a stored file to change or remove it. */
export interface StoredFile {
  readonly id: number
  readonly documentId: string
  readonly hash: string
  readonly ext: string
  /** The storage keys of its smaller pictures. */
  readonly formatKeys: readonly string[]
}

export interface FindTerms {
  readonly transaction: Pick<Transaction, 'run'>
  readonly storage: Storage
  readonly type: ContentType
}

/** The file of an id, locked until the transaction ends; null where there is none. */
export async function findFile(
  id: number,
  { transaction, storage, type }: FindTerms,
): Promise<StoredFile | null> {
  const table = storage.table(type)
  const column = (attribute: string): string => name(storage.column(type, attribute))
  const { rows } = await transaction.run({
    name: 'find a file',
    text: `SELECT ${name(table.documentId)}, ${column('hash')}, ${column('ext')}, ${column('formats')} FROM ${name(table.name)} WHERE ${name(table.id)} = $1 FOR UPDATE`,
    values: [id],
  })
  const [row] = rows
  if (!row) return null
  const [documentId, hash, ext, formats] = row
  return {
    id,
    documentId: String(documentId),
    hash: String(hash),
    ext: ext === null ? '' : String(ext),
    formatKeys: keysIn(formats),
  }
}

function keysIn(formats: unknown): readonly string[] {
  const parsed: unknown = typeof formats === 'string' ? JSON.parse(formats) : null
  if (typeof parsed !== 'object' || parsed === null) return []
  return Object.values(parsed).flatMap((format: unknown) =>
    typeof format === 'object' && format !== null && 'hash' in format && 'ext' in format
      ? [`${String(format.hash)}${String(format.ext)}`]
      : [],
  )
}

/** Under which its bytes may be kept. A record that was imported may have names that no storage keeps anything under. */
export const keysOf = ({ hash, ext, formatKeys }: StoredFile): readonly string[] =>
  [`${hash}${ext}`, ...formatKeys].filter(isKey)
