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
  const names = (await namesIn(join(root, 'content'))).filter(name => /\.ya?ml$/i.test(name)).toSorted()
  const types = new Map(
    [...model.contentTypes.values()]
      .filter(type => !type.builtIn || type === model.builtIn.user)
      .map(type => [fileName(type), type]),
  )
  const found = names.map(name => ({ name, type: types.get(name) }))
  const files = [...types.values()].flatMap(type =>
    found.some(each => each.type === type) ? [{ type, file: join(root, 'content', fileName(type)) }] : [],
  )
  const faults = found.flatMap(({ name, type }) => (type ? [] : [unknownFile(name, [...types.keys()])]))
  return { files, faults }
}

const fileName = ({ kind, key, pluralApiId }: ContentType): string =>
  `${kind === 'single' ? key : pluralApiId}.yaml`

async function namesIn(folder: string): Promise<readonly string[]> {
  try {
    const entries = await readdir(folder, { withFileTypes: true })
    return entries.filter(entry => !entry.isDirectory()).map(({ name }) => name)
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return []
    throw error
  }
}

function unknownFile(name: string, known: readonly string[]): Diagnostic {
  const near = didYouMean(name, known) || ': files are named after the plural of a content-type'
  return {
    code: 'unknown-type',
    message: `no content-type has the file \`${name}\`${near}`,
    path: [],
    place: { file: `content/${name}`, line: 1, column: 1, source: '' },
  }
}
