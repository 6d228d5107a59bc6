import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { brotliCompress, brotliDecompress, constants } from 'node:zlib'

const compress = promisify(brotliCompress)
const decompress = promisify(brotliDecompress)

/** dist/run/ in the build. In the sources no files are prepared. */
const FOLDER = fileURLToPath(new URL('.', import.meta.url))

/** 4 MB instead of 16: an empty database is 12 MB smaller, so that less is unpacked and written to the disk. */
const INITDB_PARAMETERS = ['--wal-segsize=4']

/**
 * The files of an empty database, as a tar archive: unpacking them takes a third of the time in which initdb makes them.
 * undefined: the build has none for the installed version of PGlite, so initdb has to make them.
 */
export async function readPreparedFiles(folder = FOLDER): Promise<Blob | undefined> {
  const file = preparedFilePath(folder)
  return existsSync(file) ? new Archive(await decompress(await readFile(file), ONE_PIECE)) : undefined
}

/** An archive without the copies that a Blob makes of its bytes when it is made and when it is read: half of a second. Readers must not change them. */
export class Archive extends Blob {
  readonly #bytes: Buffer<ArrayBuffer>

  constructor(bytes: Buffer<ArrayBuffer>) {
    super([])
    this.#bytes = bytes
  }

  override async arrayBuffer(): Promise<ArrayBuffer> {
    const { buffer, byteOffset, byteLength } = this.#bytes
    return byteLength === buffer.byteLength ? buffer : buffer.slice(byteOffset, byteOffset + byteLength)
  }
}

/** Bytes of zlib's buffer: more than the archive has, so that its pieces are not joined. The system assigns what is used. */
const ONE_PIECE = { chunkSize: 2 ** 26 }

/** Writes what `readPreparedFiles` reads, once for each version of PGlite, and removes the files of other versions. */
export async function writePreparedFiles(folder = FOLDER): Promise<void> {
  const file = preparedFilePath(folder)
  for (const name of readdirSync(folder))
    if (/^embedded-.*\.tar\.br$/.test(name) && join(folder, name) !== file) rmSync(join(folder, name))
  if (existsSync(file)) return
  const { PGlite } = await import('@electric-sql/pglite')
  const postgres = await PGlite.create({ dataDir: 'memory://', initDbStartParams: INITDB_PARAMETERS })
  const archive = await postgres.dumpDataDir('none')
  await postgres.close()
  const { BROTLI_PARAM_QUALITY: quality, BROTLI_PARAM_LGWIN: window } = constants
  const params = { [quality]: 9, [window]: constants.BROTLI_MAX_WINDOW_BITS }
  writeFileSync(file, await compress(Buffer.from(await archive.arrayBuffer()), { params }))
}

/** The name has the version of PGlite: PostgreSQL opens files of its own version only. */
export function preparedFilePath(folder: string): string {
  const manifest = new URL('../package.json', import.meta.resolve('@electric-sql/pglite'))
  const { version } = JSON.parse(readFileSync(manifest, 'utf8')) as { version: string }
  return join(folder, `embedded-${version}.tar.br`)
}
