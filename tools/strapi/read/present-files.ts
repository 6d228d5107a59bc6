import { existsSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { isStorageKey } from '../../../core/media/storage/file-storage.ts'
import type { StreamedDocument } from '../../transfer/stream.ts'
import type { IndexedType, RowIndex } from '../row-index.ts'
import type { Loss } from '../warnings.ts'
import { numberAt, type SourceRow, type StrapiDatabase } from './source.ts'

export const FILES = 'plugin::upload.file'

interface PresentOptions {
  readonly source: StrapiDatabase
  readonly table: string
  /** The key of the stored file. */
  readonly uploads: string
  readonly lose: (loss: Loss) => void
}

/** Removes files of Strapi's local provider whose contents are missing. */
export async function withPresentFiles(
  index: RowIndex,
  { source, table, uploads, lose }: PresentOptions,
): Promise<RowIndex> {
  const files = index.types.get(FILES)
  if (files === undefined || !existsSync(uploads)) return index
  const rows = await source.read({ table, columns: ['id', 'hash', 'ext', 'provider'] })
  const gone = new Set<number | null>()
  for (const row of rows) {
    const why = whyGone(row, uploads)
    if (why === undefined) continue
    gone.add(numberAt(row, 'id'))
    lose({ of: FILES, why })
  }
  return { types: new Map([...index.types, [FILES, without(files, gone)]]) }
}

/** Why the contents of a file of the local provider are missing; undefined: they exist, or another provider has them. */
function whyGone(row: SourceRow, uploads: string): string | undefined {
  if (row.get('provider') !== 'local') return undefined
  const name = `${row.get('hash') ?? ''}${row.get('ext') ?? ''}`
  if (!isStorageKey(name))
    return `its name on disk, ${JSON.stringify(name)}, is none that Plinth keeps files under`
  return isFile(join(uploads, name)) ? undefined : `its bytes are not in ${uploads}`
}

function without({ rows, documents }: IndexedType, gone: ReadonlySet<number | null>): IndexedType {
  return {
    rows: new Map([...rows].filter(([id]) => !gone.has(id))),
    documents: new Map([...documents].filter(([, ids]) => !ids.some(id => gone.has(id)))),
  }
}

/** Removes the resized formats whose contents are missing. */
export function withPresentFormats(document: StreamedDocument, uploads: string): StreamedDocument {
  if (document.type !== FILES || !existsSync(uploads)) return document
  const versions = document.versions.map(version => {
    const { formats, provider } = version.values
    if (provider !== 'local' || typeof formats !== 'object' || formats === null) return version
    const there = Object.entries(formats).filter(([, each]) => isThere(keyOf(each), uploads))
    return { ...version, values: { ...version.values, formats: Object.fromEntries(there) } }
  })
  return { ...document, versions }
}

const isThere = (name: string, uploads: string): boolean => isStorageKey(name) && isFile(join(uploads, name))

/** Links are followed, as Strapi does. */
const isFile = (path: string): boolean => statSync(path, { throwIfNoEntry: false })?.isFile() ?? false

/** The file name of a resized format; for an invalid one a name that no file has. */
function keyOf(format: unknown): string {
  const { hash, ext } =
    typeof format === 'object' && format !== null ? (format as Record<string, unknown>) : {}
  return typeof hash === 'string' ? `${hash}${typeof ext === 'string' ? ext : ''}` : '\u{FFFD}'
}
