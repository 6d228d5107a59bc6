import { mkdtempSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { brotliCompressSync, constants } from 'node:zlib'
import test, { type ExecutionContext } from 'ava'
import { preparedFilePath, readPreparedFiles } from '../../core/database/embedded/prepared-files.ts'
import { openDatabase } from '../../core/database/open-database.ts'
import { DATABASE_SETTINGS } from '../harness/database-settings.ts'
import { snapshot } from '../harness/embedded-files.ts'

// The files of an empty embedded database, which the build makes and a first start unpacks.

function folderOf(t: ExecutionContext): string {
  const folder = mkdtempSync(join(tmpdir(), 'plinth-prepared-'))
  t.teardown(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

/** Files as the build makes them: with smaller segments of the log than initdb's default of 16 MB. */
async function prepare(t: ExecutionContext): Promise<string> {
  const folder = folderOf(t)
  const archive = Buffer.from(await (await snapshot()).arrayBuffer())
  writeFileSync(
    preparedFilePath(folder),
    brotliCompressSync(archive, { params: { [constants.BROTLI_PARAM_QUALITY]: 1 } }),
  )
  return folder
}

test('a new embedded database starts from prepared files, and keeps them on its disk', async t => {
  const prepared = await readPreparedFiles(await prepare(t))
  t.truthy(prepared)
  const root = folderOf(t)
  const open = async () => {
    const opened = await openDatabase(DATABASE_SETTINGS, {
      root,
      observe: () => undefined,
      embedded: prepared ? { snapshot: prepared } : {},
    })
    if (!opened.ok) throw new Error(opened.reasons[0]?.message)
    return opened.value
  }
  const first = await open()
  t.deepEqual((await first.run({ text: 'SHOW wal_segment_size', values: [] })).rows, [['1MB']])
  await first.run({ text: 'CREATE TABLE kept AS SELECT 1 AS one', values: [] })
  await first.close()
  const later = await open()
  t.teardown(() => later.close())
  t.deepEqual((await later.run({ text: 'SELECT one FROM kept', values: [] })).rows, [[1]])
})

test('files of another version of PGlite are not used, nor are missing ones', async t => {
  const folder = await prepare(t)
  for (const name of readdirSync(folder))
    renameSync(join(folder, name), join(folder, 'embedded-0.0.1.tar.br'))
  t.is(await readPreparedFiles(folder), undefined)
  t.is(await readPreparedFiles(join(folder, 'absent')), undefined)
})

test('new databases start from the files that the build made', async t => {
  await snapshot()
  const identifiers = []
  for (const root of [folderOf(t), folderOf(t)]) {
    const opened = await openDatabase(DATABASE_SETTINGS, { root, observe: () => undefined })
    if (!opened.ok) throw new Error(opened.reasons[0]?.message)
    const text = 'SELECT system_identifier::text FROM pg_control_system()'
    const { rows } = await opened.value.run({ text, values: [] })
    identifiers.push(rows[0]?.[0])
    await opened.value.close()
  }
  // Each run of initdb makes another identifier.
  t.regex(String(identifiers[0]), /^\d+$/)
  t.is(identifiers[0], identifiers[1])
})
