import { cpSync, existsSync, mkdirSync, readFileSync, renameSync, rmSync } from 'node:fs'
import { join, resolve } from 'node:path'

const modules = resolve(import.meta.dirname, '..', '..', 'node_modules')

/** Lays an empty embedded database into a project that was never started: making one takes seconds, copying one none. */
export async function layEmbedded(project: string): Promise<void> {
  const folder = join(project, '.plinth')
  if (existsSync(folder)) return
  const pattern = await patternFiles()
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  cpSync(pattern, join(folder, 'database'), { recursive: true })
}

/** The files of an empty one, made once for each version of the engine. */
async function patternFiles(): Promise<string> {
  const { version } = JSON.parse(readFileSync(join(modules, '@electric-sql/pglite/package.json'), 'utf8'))
  const files = join(modules, `.cache/plinth/embedded-${version}`)
  if (!existsSync(files)) await makePattern(files)
  return files
}

async function makePattern(files: string): Promise<void> {
  const { PGlite } = await import('@electric-sql/pglite')
  // Other test files may be doing the same.
  const draft = `${files}.${process.pid}`
  mkdirSync(draft, { recursive: true })
  const postgres = await PGlite.create({ dataDir: draft })
  await postgres.close()
  if (existsSync(files)) rmSync(draft, { recursive: true })
  else renameSync(draft, files)
}
