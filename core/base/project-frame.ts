import { existsSync, realpathSync } from 'node:fs'
import { relative, resolve, sep } from 'node:path'
import { fileURLToPath } from 'node:url'

/** Code of the server itself, which may lie inside the folder of a project. */
const OWN = resolve(import.meta.dirname, '..')

/** `extensions/search.ts:12`: the first frame of a project's own code in an error's stack; null: there is none. */
export function projectFrame(error: unknown, root: string): string | null {
  const at = projectPosition(error, root)
  return at && `${at.file}:${at.line}`
}

/** The same with the column, which counts from 1. */
export function projectPosition(
  error: unknown,
  root: string,
): { readonly file: string; readonly line: number; readonly column: number } | null {
  const stack = error instanceof Error ? (error.stack ?? '') : ''
  for (const text of stack.split('\n').slice(0, MAX_FRAMES)) {
    const position = framePosition(text, root)
    if (position) return position
  }
  return null
}

function framePosition(frame: string, root: string): ReturnType<typeof projectPosition> {
  const [, place = '', line, column] = FRAME.exec(frame) ?? []
  const path = place.startsWith('file://') ? fileURLToPath(place) : place
  if (path === '' || isOfOthers(path)) return null
  // A root may be a symbolic link, and modules have real paths.
  const own = isBelow(root, path) ? root : realRoot(root)
  if (!isBelow(own, path)) return null
  return { file: relative(own, path).split(sep).join('/'), line: Number(line), column: Number(column) }
}

/** The root itself if it is gone. */
const realRoot = (root: string): string => (existsSync(root) ? realpathSync(root) : root)

/** `extensions/search.ts:12` of one frame, as `declaringFrame` returns it; null: it is not of the project. */
export function framePlace(frame: string, root: string): string | null {
  const at = framePosition(frame, root)
  return at && `${at.file}:${at.line}`
}

const MAX_FRAMES = 50

/** `    at name (/project/extensions/search.ts:12:5)`, also without a name. */
const FRAME = /^ +at (?:[^/\n]*[( ])?((?:file:\/\/)?\/[^\n:]*):(\d+):(\d+)\)?$/

const isBelow = (folder: string, file: string): boolean => file.startsWith(folder + sep)

const isOfOthers = (file: string): boolean => isBelow(OWN, file) || file.includes(`${sep}node_modules${sep}`)

/** What code has thrown instead of an error. Of objects only the keys: values may be secrets. */
export function describeThrown(value: unknown): string {
  const text = typeof value === 'object' && value !== null ? describeObject(value) : String(value)
  return `${text.slice(0, 300)}, which is no error: throw new Error(…)`
}

function describeObject(value: object): string {
  const keys = Object.keys(value).slice(0, 10)
  return keys.length === 0 ? 'an object without keys' : `an object with the keys ${keys.join(', ')}`
}

/** What code has thrown, as an error whose message and stack are texts that can be read. */
export function toReadableError(thrown: unknown): Error {
  try {
    if (thrown instanceof Error && typeof thrown.message === 'string' && isTextOrAbsent(thrown.stack))
      return thrown
    return errorWithoutStack(thrown instanceof Error ? String(thrown.message) : describeThrown(thrown))
  } catch {
    return errorWithoutStack('an object that cannot be read, which is no error: throw new Error(…)')
  }
}

const isTextOrAbsent = (value: unknown): boolean => value === undefined || typeof value === 'string'

/** Its own stack would show where it was converted, not where it was thrown. */
function errorWithoutStack(message: string): Error {
  const error = new Error(message)
  error.stack = message
  return error
}

/** The frame of the code that declares something now: the first that is not of the server. Empty: there is none. */
export function declaringFrame(): string {
  const [, ...frames] = (new Error('declared').stack ?? '').split('\n')
  return frames.find(frame => !frame.includes(OWN)) ?? ''
}

/**
 * Adds the frame of a declaration to an error, as its last one: code of the project may have returned before its work failed,
 * as with SQL, or its result is what is wrong. Other values are left alone.
 */
export function addFrame(error: unknown, frame: string): void {
  if (error instanceof Error && !Object.isFrozen(error))
    error.stack = `${error.stack ?? error.message}\n${frame}`
}

/** The message of an error, with the place in the project where it was thrown. */
export function messageWithPlace(thrown: unknown, root: string): string {
  const error = toReadableError(thrown)
  // A call of an imported name, as the loader of plugins writes it: `(0, _file.name)`.
  const message = error.message.replace(/\(0 ?, ?_\w+\.(\w+)\)/, '`$1`') || error.name
  const frame = projectFrame(error, root)
  return frame === null ? message : `${message} (at ${frame})`
}
