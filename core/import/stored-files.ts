import type { DesiredValue, Stored, Values } from '../documents/desired-state.ts'
import { isBody } from '../documents/values/parse-item.ts'
import { type FileStorage, isStorageKey } from '../media/storage/file-storage.ts'
import { BUILT_IN_STORAGES } from '../media/storage/open-storage.ts'

/** A stored file of a record: the original or one of its resized formats. */
export interface KeyedFile {
  readonly key: string
  readonly mime: string
}

/** The files of a record that Plinth's own storage keeps, named by their hash. `provider`: the storage of the project. */
export function filesOf(values: Values, provider: string): readonly KeyedFile[] {
  if (!isOurs(values, provider)) return []
  const own = toFile(scalarOf(values, 'hash'), scalarOf(values, 'ext'), scalarOf(values, 'mime'))
  const smaller = Object.values(formatsOf(values)).map(each =>
    isBody(each) ? toFile(each.hash, each.ext, each.mime) : undefined,
  )
  return own === undefined ? [] : [own, ...smaller.filter(file => file !== undefined)]
}

/** The record with the URLs and the provider of the target storage. */
export function overStorage(values: Values, files: FileStorage): Values {
  const [own] = filesOf(values, files.provider)
  if (own === undefined) return values
  const formats = Object.entries(formatsOf(values)).map(([name, each]) => {
    const file = isBody(each) ? toFile(each.hash, each.ext, each.mime) : undefined
    return [name, file && isBody(each) ? { ...each, url: files.url(file.key) } : each] as const
  })
  return new Map<string, DesiredValue>([
    ...values,
    ['provider', { kind: 'scalar', value: files.provider }],
    ['url', { kind: 'scalar', value: files.url(own.key) }],
    ...(formats.length === 0
      ? []
      : [['formats', { kind: 'scalar', value: JSON.stringify(Object.fromEntries(formats)) }] as const]),
  ])
}

/** Records of other systems have providers of their own: those bytes are elsewhere. */
const isOurs = (values: Values, provider: string): boolean =>
  [...BUILT_IN_STORAGES, provider].some(each => each === scalarOf(values, 'provider'))

/** The key that a record's original should have; null: another storage keeps it. */
export const originalKey = (values: Values, provider: string): string | null =>
  isOurs(values, provider) ? `${scalarOf(values, 'hash') ?? ''}${scalarOf(values, 'ext') ?? ''}` : null

const scalarOf = (values: Values, name: string): Stored => {
  const value = values.get(name)
  return value?.kind === 'scalar' ? value.value : null
}

function formatsOf(values: Values): Readonly<Record<string, unknown>> {
  const stored = scalarOf(values, 'formats')
  const formats: unknown = typeof stored === 'string' ? JSON.parse(stored) : null
  return isBody(formats) ? formats : {}
}

/** undefined: not a key of Plinth's own storage. */
function toFile(hash: unknown, ext: unknown, mime: unknown): KeyedFile | undefined {
  if (typeof hash !== 'string') return undefined
  const key = `${hash}${typeof ext === 'string' ? ext : ''}`
  return isStorageKey(key)
    ? { key, mime: typeof mime === 'string' ? mime : 'application/octet-stream' }
    : undefined
}

export interface FileToStore {
  /** In the storage. */
  readonly key: string
  readonly mime: string
  /** Path of the contents. */
  readonly path: string
}

/** Stores the missing files. An existing file with the same key has the same content, because a key contains a hash. */
export async function storeFiles(files: readonly FileToStore[], storage: FileStorage): Promise<void> {
  for (const { key, path, mime } of files)
    if (!(await storage.has(key))) await storage.store(key, { path, mime })
}
