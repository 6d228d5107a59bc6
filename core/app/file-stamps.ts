import type { Dirent } from 'node:fs'
import { readdir, stat } from 'node:fs/promises'
import { dirname, extname, join, sep } from 'node:path'
import { MAILS_FOLDER } from '../mail/load-templates.ts'
import { FOLDERS } from '../plugins/load/find-modules.ts'

/** A snapshot of the files that a project consists of. */
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

/** `known`: the files that the project was last read from. Files next to them that may be read later are included. */
export async function readStamps(root: string, known: readonly string[]): Promise<FileStamps> {
  const single = new Set(known.filter(path => !isInTree(root, path)))
  const flat = new Set([root, ...Array.from(single, path => dirname(path))])
  const counts = (path: string) => single.has(path) || mayBeRead(root, path)
  const visits = await Promise.all([
    ...Array.from(flat, folder => listFolder(folder, { deep: false, counts })),
    ...WATCHED_TREES.map(tree => listFolder(join(root, tree), { deep: true, counts: () => true })),
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
  readonly counts: (path: string) => boolean
}

/** The watched files of a folder and, if `deep`, of its subfolders. An unreadable folder is empty. */
async function listFolder(folder: string, options: ListOptions): Promise<readonly FolderFiles[]> {
  const entries = await readdir(folder, { withFileTypes: true }).catch(() => null)
  if (entries === null) return []
  const entriesToRead = entries.filter(entry => !isIgnored(entry))
  const pathsOf = (some: readonly Dirent[]) => some.map(({ name }) => join(folder, name))
  const files = pathsOf(entriesToRead.filter(entry => !entry.isDirectory())).filter(options.counts)
  const folders = options.deep ? pathsOf(entriesToRead.filter(entry => entry.isDirectory())) : []
  const below = await Promise.all(folders.map(path => listFolder(path, options)))
  return [{ folder, files }, ...below.flat()]
}

/** Backup files of editors, hidden files, and packages. */
const isIgnored = ({ name }: Dirent): boolean =>
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

/** The files that were written, created or removed. In folders that were not in the first snapshot, no file is new. */
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
