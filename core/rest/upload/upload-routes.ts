import type { Action } from '../../access/actions.ts'

/** A path of the files' own API (contract/rest.md 15). */
export type UploadRoute =
  | { readonly kind: 'upload' }
  | { readonly kind: 'files' }
  /** As it was written. */
  | { readonly kind: 'file'; readonly id: string }

/** What each method takes; a POST that names a file takes `update` instead. */
export const UPLOAD_ACTIONS: Readonly<Record<UploadRoute['kind'], Readonly<Record<string, Action>>>> = {
  upload: { POST: 'upload' },
  files: { GET: 'find', HEAD: 'find' },
  file: { GET: 'findOne', HEAD: 'findOne', DELETE: 'delete' },
}

export const UPLOAD_ALLOW: Readonly<Record<UploadRoute['kind'], string>> = {
  upload: 'POST',
  files: 'HEAD, GET',
  file: 'HEAD, GET, DELETE',
}

/** null: none of these. Capitals and one slash at the end do not matter. */
export function findUploadRoute(path: string, prefix: string): UploadRoute | null {
  const start = `${prefix}/upload`.toLowerCase()
  const trimmed = path.endsWith('/') ? path.slice(0, -1) : path
  if (!trimmed.toLowerCase().startsWith(start)) return null
  const rest = trimmed.slice(start.length)
  if (rest === '') return { kind: 'upload' }
  const [, words, id] = /^\/(files)(?:\/([^/]+))?$/i.exec(rest) ?? []
  if (words === undefined) return null
  return id === undefined ? { kind: 'files' } : { kind: 'file', id }
}
