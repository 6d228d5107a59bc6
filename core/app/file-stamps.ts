import type { Dirent } from 'node:fs'
import { readdir, stat } from 'node:fs/promises'
import { dirname, extname, join, sep } from 'node:path'
import { MAILS_FOLDER } from '../mail/load-templates.ts'
import { FOLDERS } from '../plugins/load/find-modules.ts'

/** A snapshot of the files of a project. Two snapshots show what has changed between them. */
export interface FileStamps {
  /** Path → stamp: changes when the file is written or replaced. */
  readonly files: ReadonlyMap<string, string>
  /** The folders that contain such files or may do so. Path → stamp: changes when the folder is replaced. */
  readonly folders: ReadonlyMap<string, string>
}

/** Every file below these folders is watched. */
const WATCHED_TREES = [...Object.values(FOLDERS), 'content', MAILS_FOLDER]

const isInTree = (root: string, path: string): boolean =>
  WATCHED_TREES.some(tree => path.startsWith(join(root, tree) + sep))

/** `known`: the absolute paths that the project was last read from. Files next to them that may be read later are included. */
export async function readStamps(root: string, known: readonly string[]): Promise<FileStamps> {
  const outside = new Set(known.filter(path => !isInTree(root, path)))
  const outsideFolders = new Set([root, ...Array.from(outside, path => dirname(path))])
  const isWatched = (path: string) => outside.has(path) || mayBeRead(root, path)
  const listed = await Promise.all([
    ...Array.from(outsideFolders, folder => listFolder(folder, { deep: false, isWatched })),
    ...WATCHED_TREES.map(tree => listFolder(join(root, tree), { deep: true, isWatched: () => true })),
  ])
  const found = listed.flat()
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

const YAML_EXTENSIONS: ReadonlySet<string> = new Set(['.yaml', '.yml'])
const SOURCE_EXTENSIONS: ReadonlySet<string> = new Set([
  ...YAML_EXTENSIONS,
  ...['.ts', '.mts', '.cts', '.js', '.mjs', '.cjs', '.json'],
])

/** The root folder contains unrelated files, so only YAML and .env are watched there. */
const mayBeRead = (root: string, path: string): boolean =>
  path === join(root, '.env') ||
  (dirname(path) === root ? YAML_EXTENSIONS : SOURCE_EXTENSIONS).has(extname(path))

interface FolderFiles {
  readonly folder: string
  readonly files: readonly string[]
}

interface ListOptions {
  readonly deep: boolean
  readonly isWatched: (path: string) => boolean
}

/** The watched files of a folder and, if `deep`, of its subfolders. An unreadable folder is empty. */
async function listFolder(folder: string, options: ListOptions): Promise<readonly FolderFiles[]> {
  const entries = await readdir(folder, { withFileTypes: true }).catch(() => null)
  if (entries === null) return []
  const entriesToRead = entries.filter(entry => !isIgnored(entry))
  const pathsOf = (some: readonly Dirent[]) => some.map(({ name }) => join(folder, name))
  const files = pathsOf(entriesToRead.filter(entry => !entry.isDirectory())).filter(options.isWatched)
  const folders = options.deep ? pathsOf(entriesToRead.filter(entry => entry.isDirectory())) : []
  const below = await Promise.all(folders.map(path => listFolder(path, options)))
  return [{ folder, files }, ...below.flat()]
}

/** True for backup files of editors, hidden files and packages. */
const isIgnored = ({ name }: Dirent): boolean =>
  name === 'node_modules' || name.endsWith('~') || (name.startsWith('.') && name !== '.env')

type Stats = Awaited<ReturnType<typeof stat>>

/** The stamps of the paths that exist. */
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

/**
 * The absolute paths of files that were written, created or removed. A file in a folder that the first snapshot did not
 * watch is not reported as created.
 */
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
