import { cpSync, existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { brotliCompressSync, constants } from 'node:zlib'
import { Archive, preparedFilePath } from '../../core/database/embedded/prepared-files.ts'
import { builtFile } from './program.ts'

const modules = resolve(import.meta.dirname, '..', '..', 'node_modules')

/** Lays an empty embedded database into a project that was never started: making one takes seconds, copying one none. */
export async function layEmbedded(project: string): Promise<void> {
  const folder = join(project, '.plinth')
  if (existsSync(folder)) return
  const pattern = await patternFiles()
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  cpSync(join(pattern, 'database'), join(folder, 'database'), { recursive: true })
}

/** The same for a database in memory: creating an embedded database takes seconds, starting from this half of one. */
export function snapshot(): Promise<Blob> {
  snapshotOnce ??= readTar()
  return snapshotOnce
}

let snapshotOnce: Promise<Blob> | undefined

const readTar = async () => new Archive(readFileSync(join(await patternFiles(), 'database.tar')))

/** Made once for each version of the engine. */
async function patternFiles(): Promise<string> {
  const { version } = JSON.parse(readFileSync(join(modules, '@electric-sql/pglite/package.json'), 'utf8'))
  const files = join(modules, `.cache/plinth/small-embedded-${version}`)
  if (!existsSync(files)) await makePattern(files)
  layPreparedFiles(join(files, 'database.tar'))
  return files
}

/** Commands that tests run in processes of their own start from it, as the built package does from its own. */
function layPreparedFiles(tar: string): void {
  const file = preparedFilePath(dirname(builtFile('core/database/embedded/engine.ts')))
  if (existsSync(file)) return
  const draft = `${file}.${process.pid}`
  writeFileSync(
    draft,
    brotliCompressSync(readFileSync(tar), { params: { [constants.BROTLI_PARAM_QUALITY]: 1 } }),
  )
  renameSync(draft, file)
}

async function makePattern(files: string): Promise<void> {
  const draft = `${files}.${process.pid}`
  mkdirSync(draft, { recursive: true })
  await makeSmall(join(draft, 'database'))
  await writeTar(join(draft, 'database'), join(draft, 'database.tar'))
  try {
    renameSync(draft, files)
  } catch (error) {
    // Other test files do the same at the same time, and one may have been faster.
    rmSync(draft, { recursive: true })
    if (!existsSync(files)) throw error
  }
}

/** Every process of the tests takes one in: without what none of them needs, that is half of the work. */
async function makeSmall(dataDir: string): Promise<void> {
  const { PGlite } = await import('@electric-sql/pglite')
  const postgres = await PGlite.create({ dataDir, initDbStartParams: ['--wal-segsize=1'] })
  const { rows } = await postgres.query<{ oid: number }>('SELECT oid FROM pg_database WHERE datistemplate')
  await postgres.close()
  // From templates other databases are made; an embedded one is alone.
  for (const { oid } of rows) rmSync(join(dataDir, 'base', String(oid)), { recursive: true })
}

async function writeTar(dataDir: string, file: string): Promise<void> {
  const { PGlite } = await import('@electric-sql/pglite')
  const postgres = await PGlite.create({ dataDir })
  const dump = await postgres.dumpDataDir('none')
  await postgres.close()
  writeFileSync(file, Buffer.from(await dump.arrayBuffer()))
}
