import { existsSync, readFileSync, realpathSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join, relative, sep } from 'node:path'
import type { Jiti, TransformOptions } from 'jiti'
import { LruCache } from '../../base/lru-cache.ts'
import { memoryBytes } from '../../base/text.ts'
import { rejectAfter } from '../../base/with-timeout.ts'
import * as names from '../plugin-names.ts'
import { diagnoseModule } from './find-modules.ts'
import { ModuleFault } from './module-fault.ts'

/** Loads TypeScript and JavaScript modules without a build step. */
export interface ModuleLoader {
  /** Returns the exports of a module. Rejects with any error of the module, and for a module that takes over a minute. */
  load(file: string): Promise<unknown>
}

/** Milliseconds: an `await` at the top of a module may never end. */
const TIMEOUT = 60_000

const OPTIONS = { fsCache: false, interopDefault: true, sourceMaps: true }

/**
 * Opens a loader that reloads all modules of a project, each once. Nothing is cached on disk, where a shared folder would be
 * an attack vector. Transformed code is cached in memory for the next reload. `root`: the real path of the project's folder.
 */
export async function openLoader(root: string): Promise<ModuleLoader> {
  const { createJiti } = await import('jiti')
  evictModules(root)
  const id = join(root, 'project.yaml')
  const plain = createJiti(id, OPTIONS)
  const jiti = createJiti(id, {
    ...OPTIONS,
    virtualModules: { plinth: names },
    alias: ownPackages(id),
    transform: options => {
      const { filename: file = '', source } = options
      const code = cachedTransform(plain, options)
      return { code: isProjectFile(root)(file) ? withLegacyDecorators(root, { file, source, code }) : code }
    },
  })
  return { load: file => rejectAfter(TIMEOUT, () => load(jiti, file)) }
}

/** Packages that routers of extensions need: the project's own installation if it has one, else that of Plinth. */
function ownPackages(from: string): Readonly<Record<string, string>> {
  const [project, plinth] = [createRequire(from), createRequire(import.meta.url)]
  return Object.fromEntries(
    ['express'].filter(name => !resolves(project, name)).map(name => [name, plinth.resolve(name)]),
  )
}

function resolves(require: NodeJS.Require, name: string): boolean {
  try {
    return require.resolve(name) !== ''
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'MODULE_NOT_FOUND') return false
    throw error
  }
}

async function load(jiti: Jiti, filename: string): Promise<unknown> {
  const loaded = createRequire(import.meta.url).cache[filename]
  if (loaded?.loaded) return loaded.exports
  const source = readFileSync(filename, 'utf8')
  if (!isForNode(filename, source)) return jiti.import(filename)
  return jiti.evalModule(source, { id: filename, filename, async: true, forceTranspile: true })
}

/** True for ES modules that jiti would leave to Node, which caches them until the process ends. */
const isForNode = (file: string, source: string): boolean =>
  file.endsWith('.mjs') || (file.endsWith('.js') && /^[ \t]*(?:import|export)\b/m.test(source))

const TRANSFORMED = new LruCache<string>({ entries: 1_000, bytes: 20_000_000 }, memoryBytes)

function cachedTransform(jiti: Jiti, options: TransformOptions): string {
  const key = JSON.stringify(options)
  const kept = TRANSFORMED.get(key)
  if (kept !== undefined) return kept
  const code = jiti.transform(options)
  TRANSFORMED.set(key, code)
  return code
}

interface TransformedModule {
  /** Absolute. */
  readonly file: string
  readonly source: string
  readonly code: string
}

/**
 * The code of a module. Throws for decorators unless the project chooses those of `experimentalDecorators`. The loader knows no
 * others: it calls a standard decorator with other arguments, and ignores the function that it returns.
 */
function withLegacyDecorators(root: string, { file, source, code }: TransformedModule): string {
  if (!source.includes('@') || !TRANSFORMED_DECORATOR.test(code) || TRANSFORMED_DECORATOR.test(source))
    return code
  // Without `reflect-metadata`, this default would replace the descriptor of a decorated method by its class.
  if (isExperimental(root)) return code.replaceAll('|| ((t) => t)', '|| (() => {})')
  const lines = source.split(/\r?\n/)
  const at = lines.findIndex(line => DECORATOR.test(line))
  const text = lines[at] ?? ''
  throw new ModuleFault(
    diagnoseModule('bad-module', STANDARD_DECORATORS, {
      file: relative(root, file).split(sep).join('/'),
      ...(at !== -1 && { line: at + 1, column: text.indexOf('@') + 1, source: text }),
    }),
  )
}

const STANDARD_DECORATORS =
  'standard decorators are not supported: call the function instead, or set `experimentalDecorators` in tsconfig.json for those of TypeScript'

/** What the transformation makes of decorators. */
const TRANSFORMED_DECORATOR =
  /\(_class\d* = class\b|\b_applyDecoratedDescriptor\(|experimental syntax 'decorator/

const DECORATOR = /^[^'"`*/]*@\w/

function isExperimental(root: string): boolean {
  const file = join(root, 'tsconfig.json')
  return existsSync(file) && /"experimentalDecorators"\s*:\s*true/.test(readFileSync(file, 'utf8'))
}

/** jiti uses Node's module cache, so a reload must evict the project's modules. */
function evictModules(root: string): void {
  const { cache } = createRequire(import.meta.url)
  for (const file of Object.keys(cache).filter(isProjectFile(root))) delete cache[file]
}

/** Loaded module files of a project, without packages. */
export function loadedFiles(root: string): readonly string[] {
  const real = realpathSync(root)
  const keys = Object.keys(createRequire(import.meta.url).cache)
  return keys.filter(isProjectFile(real)).map(file => join(root, relative(real, file)))
}

const isProjectFile = (root: string) => (file: string) =>
  file.startsWith(root + sep) && !file.includes(`${sep}node_modules${sep}`)

/** The default export; for CommonJS modules the exports. */
export const defaultExport = (exported: unknown): unknown =>
  typeof exported === 'object' && exported !== null && 'default' in exported ? exported.default : exported
