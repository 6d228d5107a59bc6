import type { Dirent } from 'node:fs'
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { didYouMean } from '../base/nearest.ts'
import type { Diagnostic } from '../faults/diagnostic.ts'
import type { ContentType, Model } from '../model/model.ts'

export interface ContentFile {
  readonly type: ContentType
  /** Absolute. */
  readonly file: string
}

export interface FoundFiles {
  /** In the order of the model's types. */
  readonly files: readonly ContentFile[]
  readonly faults: readonly Diagnostic[]
}

/** The files of content/: named after the type's plural, single types' after the singular, and users.yaml. */
export async function findFiles(root: string, model: Model): Promise<FoundFiles> {
  const listed = await entriesIn(join(root, 'content'))
  if (!listed)
    return {
      files: [],
      faults: [misplaced('content', '`content` is a file: documents lie in a folder of this name')],
    }
  const entries = listed
    .filter(({ name }) => /\.ya?ml$/i.test(name))
    .toSorted((a, b) => (a.name < b.name ? -1 : 1))
  const types = new Map(
    [...model.contentTypes.values()]
      .filter(type => !type.builtIn || type === model.builtIn.user)
      .map(type => [fileName(type), type]),
  )
  const names = new Set(entries.filter(entry => !entry.isDirectory()).map(({ name }) => name))
  const files = [...types]
    .filter(([name]) => names.has(name))
    .map(([name, type]) => ({ type, file: join(root, 'content', name) }))
  const faults = entries.flatMap(entry => {
    if (entry.isDirectory())
      return [
        misplaced(`content/${entry.name}`, 'a folder cannot hold documents: only a file of this name can'),
      ]
    return types.has(entry.name) ? [] : [unknownFile(entry.name, [...types.keys()])]
  })
  return { files, faults }
}

const fileName = ({ kind, key, pluralApiId }: ContentType): string =>
  `${kind === 'single' ? key : pluralApiId}.yaml`

/** Empty where there is no folder; undefined where something else has its name. */
async function entriesIn(folder: string): Promise<readonly Dirent[] | undefined> {
  try {
    return await readdir(folder, { withFileTypes: true })
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : undefined
    if (code === 'ENOENT') return []
    if (code === 'ENOTDIR') return undefined
    throw error
  }
}

function unknownFile(name: string, known: readonly string[]): Diagnostic {
  const near = didYouMean(name, known) || ': files are named after the plural of a content-type'
  return misplaced(`content/${name}`, `no content-type has the file \`${name}\`${near}`)
}

const misplaced = (file: string, message: string): Diagnostic => ({
  code: 'unknown-type',
  message,
  path: [],
  place: { file, line: 1, column: 1, source: '' },
})
