import { readFileSync, realpathSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join, relative, sep } from 'node:path'
import type { Jiti, TransformOptions } from 'jiti'
import { LruCache } from '../../base/lru-cache.ts'
import { memoryBytes } from '../../base/text.ts'
import * as names from '../plugin-names.ts'

/** TypeScript and JavaScript without a build step. */
export interface ModuleLoader {
  /** What a module exports. Rejects with whatever loading it throws. */
  load(file: string): Promise<unknown>
}

const OPTIONS = { fsCache: false, interopDefault: false, sourceMaps: true }

/**
 * Loads the modules of a project anew, each once. Nothing is written to disk: a cache in a shared folder is a way in.
 * What was made of a text is kept in memory, for the next load of this process.
 */
export async function openLoader(root: string): Promise<ModuleLoader> {
  const { createJiti } = await import('jiti')
  forget(root)
  const id = join(root, 'project.yaml')
  const plain = createJiti(id, OPTIONS)
  const jiti = createJiti(id, {
    ...OPTIONS,
    virtualModules: { plinth: names },
    transform: options => ({ code: transformed(plain, options) }),
  })
  return { load: file => load(jiti, file) }
}

async function load(jiti: Jiti, filename: string): Promise<unknown> {
  const loaded = createRequire(import.meta.url).cache[filename]
  if (loaded?.loaded) return loaded.exports
  const source = readFileSync(filename, 'utf8')
  if (!isForNode(filename, source)) return jiti.import(filename)
  return jiti.evalModule(source, { id: filename, filename, async: true, forceTranspile: true })
}

/** JavaScript that jiti would leave to Node, which keeps such modules until the process ends. */
const isForNode = (file: string, source: string): boolean =>
  file.endsWith('.mjs') || (file.endsWith('.js') && /^[ \t]*(?:import|export)\b/m.test(source))

const KEPT = new LruCache<string>({ entries: 1_000, bytes: 20_000_000 }, memoryBytes)

function transformed(jiti: Jiti, options: TransformOptions): string {
  const key = JSON.stringify(options)
  const kept = KEPT.get(key)
  if (kept !== undefined) return kept
  const code = jiti.transform(options)
  KEPT.set(key, code)
  return code
}

/** jiti keeps modules where Node does: what was loaded before a reload would stay. */
function forget(root: string): void {
  const { cache } = createRequire(import.meta.url)
  for (const file of Object.keys(cache).filter(isOwn(realpathSync(root)))) delete cache[file]
  for (const file of Object.keys(cache).filter(isOwn(root))) delete cache[file]
}

/** The files of a project that were loaded as modules, but for packages. */
export function loadedFrom(root: string): readonly string[] {
  const real = realpathSync(root)
  const keys = Object.keys(createRequire(import.meta.url).cache)
  const behindLinks = keys.filter(isOwn(real)).map(file => join(root, relative(real, file)))
  return [...new Set([...keys.filter(isOwn(root)), ...behindLinks])]
}

const isOwn = (root: string) => (file: string) =>
  file.startsWith(root + sep) && !file.includes(`${sep}node_modules${sep}`)

/** CommonJS modules are what they export. */
export const defaultOf = (exported: unknown): unknown =>
  typeof exported === 'object' && exported !== null && 'default' in exported ? exported.default : exported
