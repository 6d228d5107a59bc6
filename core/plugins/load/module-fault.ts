import { readFileSync, statSync } from 'node:fs'
import { isBuiltin } from 'node:module'
import { join } from 'node:path'
import { didYouMean } from '../../base/nearest.ts'
import { projectPosition } from '../../base/project-frame.ts'
import type { Diagnostic } from '../../faults/diagnostic.ts'
import { moduleKind } from '../plugin-module.ts'
import * as pluginNames from '../plugin-names.ts'
import { diagnoseModule, FOLDERS, type PluginModule } from './find-modules.ts'

/** A file that was loaded. */
export type LoadedModule = Pick<PluginModule, 'file' | 'shown'>

/** Thrown by code that knows the place of a fault. */
export class ModuleFault extends Error {
  readonly diagnostic: Diagnostic

  constructor(diagnostic: Diagnostic) {
    super(diagnostic.message)
    this.diagnostic = diagnostic
  }
}

/** The place of a key of a plugin: the first line that has it. */
export function pathOfKey(root: string, shown: string, key: string) {
  const lines = readLines(join(root, shown))
  const at = lines.findIndex(line => line.includes(key))
  const source = lines[at] ?? ''
  return at === -1 ? { file: shown } : { file: shown, line: at + 1, column: source.indexOf(key) + 1, source }
}

/** Diagnostic for an error while a module was loaded, at the line of the project that threw it. */
export function moduleError({ file, shown }: LoadedModule, error: unknown): Diagnostic {
  if (error instanceof ModuleFault) return error.diagnostic
  const root = file.slice(0, -shown.length - 1)
  const reason = reasonOf(error, file).replaceAll(`${root}/`, '')
  const at = syntaxPosition(error, root) ?? projectPosition(error, root)
  if (at && at.file !== shown)
    return diagnoseModule('bad-module', `${shown} imports this, and it cannot be loaded: ${reason}`, {
      ...at,
      ...sourceAt(`${root}/${at.file}`, at),
    })
  return diagnoseModule('bad-module', `the module cannot be loaded: ${reason}`, {
    file: shown,
    ...(at && sourceAt(file, at)),
  })
}

interface Position {
  readonly file: string
  readonly line: number
  readonly column: number
}

/** jiti ends the message of a syntax error with its place, whose column counts from 0. */
function syntaxPosition(error: unknown, root: string): Position | null {
  const line = error instanceof Error ? (error.message.split('\n').at(-1)?.trim() ?? '') : ''
  const [, place = '', number, column] = /^(\/.*):(\d+):(\d+)$/.exec(line) ?? []
  if (!place.startsWith(`${root}/`)) return null
  return { file: place.slice(root.length + 1), line: Number(number), column: Number(column) + 1 }
}

function sourceAt(file: string, { line, column }: Position) {
  const source = readLines(file)[line - 1] ?? ''
  // A column beyond the line refers to the transformed code. The end of the line is where a parser misses something.
  return { line, column: column <= source.length + 1 ? column : 1, source }
}

/** Empty if the file has disappeared or is unreadable, which the error itself reports. */
function readLines(file: string): readonly string[] {
  return statSync(file, { throwIfNoEntry: false })?.isFile() ? readFileSync(file, 'utf8').split(/\r?\n/) : []
}

function reasonOf(error: unknown, file: string): string {
  if (!(error instanceof Error)) return `it throws ${printThrown(error)}, which is no error`
  const unreadable = unreadableReason(error, file)
  if (unreadable) return unreadable
  const message = error.message
    .split('\n')[0]
    ?.replace(/^\w*Error: /, '')
    .trim()
  if (!message) return `it throws ${error.name} without a message`
  // The loader looks for a promise in what the module exports.
  if (message === "Cannot read properties of null (reading 'then')") return 'its default export is null'
  return missingName(message) ?? `${message}${missingPackage(message)}`
}

const printThrown = (value: unknown): string =>
  typeof value === 'string' ? JSON.stringify(value.slice(0, 200)) : describeValue(value)

const UNREADABLE: Readonly<Record<string, string>> = {
  EISDIR: 'it is a folder',
  ENOENT: 'it is a symbolic link to a file that does not exist, or was removed while it was read',
  ELOOP: 'it is a symbolic link that leads back to itself',
  EACCES: 'the user of the server has no permission to read it',
  EPERM: 'the user of the server has no permission to read it',
}

/** Only for the module itself: its code may fail to read other files. */
function unreadableReason(error: Error, file: string): string | null {
  const { code = '', path = file, syscall } = error as NodeJS.ErrnoException
  return path === file && (syscall === 'open' || syscall === 'read') ? (UNREADABLE[code] ?? null) : null
}

/** A package, not a path. */
function missingPackage(message: string): string {
  const name = /^Cannot find (?:module|package) '([^'./][^']*)'/.exec(message)?.[1]
  if (name === undefined || isBuiltin(name)) return ''
  if (name.startsWith('plinth/')) return ': there are `plinth` and `plinth/testing`'
  const words = name.split('/').slice(0, name.startsWith('@') ? 2 : 1)
  return `: install it with \`npm install ${words.join('/')}\``
}

/** Transformed code calls a name that `plinth` does not export as `(0 , _plinth.name)`. */
function missingName(message: string): string | null {
  const name = /^\(0 ?, ?_plinth\d*\.(\w+)\) is not a function/.exec(message)?.[1]
  if (name === undefined || name in pluginNames) return null
  return `\`plinth\` exports no \`${name}\`${didYouMean(name, Object.keys(pluginNames))}`
}

const DEFINE = {
  policy: 'definePolicy',
  middleware: 'defineMiddleware',
  extension: 'defineExtension',
  migration: 'defineMigration',
} as const

/** Diagnostic for a module whose default export is not made by the function of its folder. */
export function wrongExport(
  { file, shown }: LoadedModule,
  kind: keyof typeof DEFINE,
  exported: unknown,
): Diagnostic {
  const lines = readLines(file)
  const at = lines.findIndex(line => DEFAULT_EXPORT.test(line))
  const found = at === -1 ? describeNames(exported, kind) : describeExport(exported, kind)
  const message = `expected \`export default ${DEFINE[kind]}(…)\`, found ${found}`
  return diagnoseModule('bad-module', message, {
    file: shown,
    ...(at !== -1 && { line: at + 1, source: lines[at] ?? '' }),
  })
}

const DEFAULT_EXPORT =
  /^(?:export default\b|export =|export \{[^}]*\bdefault\b|(?:module\.)?exports(?:\.default)? =)/

/** For a module without a default export: the names that it has. */
function describeNames(exported: unknown, kind: keyof typeof DEFINE): string {
  const named = Object.entries(typeof exported === 'object' && exported !== null ? exported : {})
  const names = named.map(([name]) => name).filter(name => name !== 'default' && name !== '__esModule')
  if (names.length === 0) return 'no export'
  const made = named.find(([, value]) => moduleKind(value) === kind)
  if (made) return `it under the name \`${made[0]}\`: export it as the default`
  return `no default export, but ${listNames(names)}`
}

function describeExport(value: unknown, kind: keyof typeof DEFINE): string {
  const found = moduleKind(value)
  if (found) return `a ${found}, which belongs into ${found === 'migration' ? 'migrations' : FOLDERS[found]}/`
  const define = Object.values(DEFINE).find(name => value === Reflect.get(pluginNames, name))
  if (define) return `\`${define}\` itself: call it`
  if (isClass(value)) return `${describeValue(value)}: pass an object with functions to ${DEFINE[kind]}`
  if (typeof value === 'function') return `a function: pass it to ${DEFINE[kind]}`
  if (value instanceof Promise) return 'a promise: await it'
  return describeValue(value)
}

const isClass = (value: unknown): value is { readonly name: string } =>
  typeof value === 'function' && /^class\b/.test(Function.prototype.toString.call(value))

function describeValue(value: unknown): string {
  if (value === null || value === undefined) return String(value)
  if (isClass(value)) return value.name === '' ? 'a class' : `the class \`${value.name}\``
  if (Array.isArray(value)) return 'a list'
  if (typeof value !== 'object') return `a ${typeof value}`
  const names = Object.keys(value)
  return names.length === 0 ? 'an empty object' : `an object with ${listNames(names)}`
}

const MAX_LISTED = 5

function listNames(names: readonly string[]): string {
  const shown = names.slice(0, MAX_LISTED).map(name => `\`${name}\``)
  return `${shown.join(', ')}${names.length > MAX_LISTED ? ', …' : ''}`
}
