import type { Dirent } from 'node:fs'
import { readdir, stat } from 'node:fs/promises'
import { dirname, extname, join, sep } from 'node:path'
import { FOLDERS } from '../plugins/load/find-modules.ts'

/** The files that a project is read from, at one moment. */
export interface FileStamps {
  /** Path → a text that is another one once the file was written or replaced. */
  readonly files: ReadonlyMap<string, string>
  /** The folders that such files lie in, or may come into. Path → a text that is another one for another folder. */
  readonly folders: ReadonlyMap<string, string>
}

/** Below these, any file counts. */
const TREES = [...Object.values(FOLDERS), 'content']

const isInTree = (root: string, path: string): boolean =>
  TREES.some(tree => path.startsWith(join(root, tree) + sep))

/** `known`: what was read of the project the last time. Files beside them count, too, where they may be read next. */
export async function readStamps(root: string, known: readonly string[]): Promise<FileStamps> {
  const single = new Set(known.filter(path => !isInTree(root, path)))
  const flat = new Set([root, ...Array.from(single, path => dirname(path))])
  const counts = (path: string) => single.has(path) || mayBeRead(root, path)
  const visits = await Promise.all([
    ...Array.from(flat, folder => visit(folder, { deep: false, counts })),
    ...TREES.map(tree => visit(join(root, tree), { deep: true, counts: () => true })),
  ])
  const found = visits.flat()
  const files = await stampAll(
    found.flatMap(each => each.files),
    ({ mtimeMs, size, ino }) => `${mtimeMs} ${size} ${ino}`,
  )
  const folders = await stampAll(
    found.map(each => each.folder),
    ({ dev, ino }) => `${dev} ${ino}`,
  )
  return { files, folders }
}

const TEXTS: ReadonlySet<string> = new Set(['.yaml', '.yml'])
const SOURCES: ReadonlySet<string> = new Set([
  ...TEXTS,
  ...['.ts', '.mts', '.cts', '.js', '.mjs', '.cjs', '.json'],
])

/** The folder of project.yaml holds a good deal that is none of its business. */
const mayBeRead = (root: string, path: string): boolean =>
  path === join(root, '.env') || (dirname(path) === root ? TEXTS : SOURCES).has(extname(path))

interface Visited {
  readonly folder: string
  readonly files: readonly string[]
}

interface Visit {
  readonly deep: boolean
  readonly counts: (path: string) => boolean
}

/** What counts in a folder, and in those below it; nothing of one that cannot be read. */
async function visit(folder: string, terms: Visit): Promise<readonly Visited[]> {
  const entries = await readdir(folder, { withFileTypes: true }).catch(() => null)
  if (entries === null) return []
  const lasting = entries.filter(entry => !isPassing(entry))
  const pathsOf = (some: readonly Dirent[]) => some.map(({ name }) => join(folder, name))
  const files = pathsOf(lasting.filter(entry => !entry.isDirectory())).filter(terms.counts)
  const folders = terms.deep ? pathsOf(lasting.filter(entry => entry.isDirectory())) : []
  const below = await Promise.all(folders.map(path => visit(path, terms)))
  return [{ folder, files }, ...below.flat()]
}

/** What editors keep beside a file, and packages. */
const isPassing = ({ name }: Dirent): boolean =>
  name === 'node_modules' || name.endsWith('~') || (name.startsWith('.') && name !== '.env')

type Stats = Awaited<ReturnType<typeof stat>>

async function stampAll(
  paths: readonly string[],
  print: (stats: Stats) => string,
): Promise<ReadonlyMap<string, string>> {
  const stamped = await Promise.all(
    paths.map(async path => {
      const found = await stat(path).catch(() => null)
      return found && ([path, print(found)] as const)
    }),
  )
  return new Map(stamped.filter(each => each !== null))
}

/** The files that were written, made or removed; of folders that nobody looked at before, none is new. */
export function changesBetween(before: FileStamps, after: FileStamps, root: string): readonly string[] {
  const isWritten = ([path, stamp]: readonly [string, string]) => {
    const last = before.files.get(path)
    if (last !== undefined) return last !== stamp
    return before.folders.has(dirname(path)) || isInTree(root, path)
  }
  const written = [...after.files].filter(isWritten).map(([path]) => path)
  const removed = [...before.files.keys()].filter(path => !after.files.has(path))
  return [...written, ...removed].toSorted()
}
