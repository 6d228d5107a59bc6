import { statSync } from 'node:fs'
import { dirname } from 'node:path'

/** Why an import cannot read what it is given; null: it can. `file`: `-` is the standard input. */
export function importPathFault(file: string, files: string | undefined): string | null {
  const found = file === '-' ? 'file' : kindOf(file)
  if (found === null) return `There is no file ${file}`
  if (found === 'folder') return `${file} is a folder: name the file to import`
  if (files !== undefined && kindOf(files) === null)
    return `There is no folder ${files} with the bytes of files`
  return folderFault(files)
}

/** Why an export cannot write where it is to; null: it can. `out`: `-` is the standard output. */
export function exportPathFault(out: string, files: string | undefined): string | null {
  if (out === '') return 'The file to write has no name'
  if (out !== '-' && kindOf(out) === 'folder') return `${out} is a folder: name the file to write`
  if (out !== '-' && kindOf(dirname(out)) !== 'folder') return `There is no folder ${dirname(out)} for ${out}`
  return folderFault(files)
}

/** Why no project can be written into a folder; null: it can. */
export const projectFolderFault = (folder: string): string | null =>
  kindOf(folder) === 'file' ? `${folder} is a file: --out names a folder` : null

const folderFault = (files: string | undefined): string | null =>
  files !== undefined && kindOf(files) === 'file' ? `${files} is a file: --files names a folder` : null

function kindOf(path: string): 'file' | 'folder' | null {
  const found = statSync(path, { throwIfNoEntry: false })
  if (found === undefined) return null
  return found.isDirectory() ? 'folder' : 'file'
}
