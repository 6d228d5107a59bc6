import { readdirSync, utimesSync } from 'node:fs'
import { join } from 'node:path'
import test, { type ExecutionContext } from 'ava'
import { createTestApp } from '../../core/testing.ts'
import { runFileCheck } from '../../tools/cli/doctor-files.ts'
import { projectFolder } from '../harness/project-folder.ts'
import { runSql } from '../harness/run-sql.ts'
import { startStrictS3 } from '../media/strict-s3.ts'

const TOKEN = 'a-secret-of-forty-letters-that-no-client-guesses'
const KEYS = { accessKeyId: 'AKID', secretAccessKey: 's/cr+t=' }
const OLD = new Date(Date.now() - 2 * 86_400_000)

async function open(t: ExecutionContext, upload: object = {}) {
  const { folder, url } = await projectFolder(t)
  const project = (upload: object) =>
    JSON.stringify({
      name: 'Files',
      database: { url },
      upload,
      contentTypes: { note: { attributes: { text: 'string' } } },
      apiTokens: { full: { type: 'full-access', secret: TOKEN } },
    })
  folder.write('project.yaml', project(upload))
  const app = await createTestApp({ project: folder.path, database: url })
  const form = new FormData()
  form.append('files', new Blob(['kept']), 'kept.txt')
  const { body } = await app.request('POST', '/api/upload', { body: form, token: TOKEN })
  await app.close()
  const [{ hash }] = body as [{ hash: string }]
  const check = async (removes: boolean) => {
    const output: string[] = []
    const code = await runFileCheck({
      folder: folder.path,
      env: {},
      paint: (_, text) => text,
      write: text => void output.push(text),
      writeError: text => void output.push(text),
      json: true,
      removes,
    })
    const text = output.at(-1) ?? ''
    return { code, text, found: code === 0 ? JSON.parse(text) : null }
  }
  const query = (text: string) => runSql(folder.path, url, text)
  return { folder, project, kept: `${hash}.txt`, check, query }
}

test('files that a killed process left without a record are listed, and removed on demand', async t => {
  const { folder, kept, check, query } = await open(t)
  const uploads = join(folder.path, '.plinth', 'uploads')
  const files = [
    'left_0123456789.txt',
    'small_left_0123456789.png',
    'small_kept_0123456789.png',
    'new_0123456789.txt',
    'robots.txt',
    kept,
  ]
  for (const name of files) {
    if (name !== kept) folder.write(join('.plinth', 'uploads', name), 'bytes')
    if (!name.startsWith('new')) utimesSync(join(uploads, name), OLD, OLD)
  }
  await query(`UPDATE plinth_files SET formats = '{"small":{"hash":"small_kept_0123456789","ext":".png"}}'`)
  const listed = await check(false)
  t.is(listed.code, 0, listed.text)
  t.like(listed.found, { removed: null })
  t.deepEqual(listed.found.files.map(({ key }: { key: string }) => key).toSorted(), files.slice(0, 2))
  t.deepEqual(readdirSync(uploads).toSorted(), files.toSorted())
  await query(`INSERT INTO plinth_imports (digest, done, decided, begun_at) VALUES ('x', 5, '{}', now())`)
  const refused = await check(true)
  t.is(refused.code, 1)
  t.regex(refused.text, /^An import is not finished/)
  t.deepEqual(readdirSync(uploads).toSorted(), files.toSorted())
  await query('DELETE FROM plinth_imports')
  t.like((await check(true)).found, { removed: 2 })
  t.deepEqual(readdirSync(uploads).toSorted(), files.slice(2).toSorted())
  t.like((await check(true)).found, { files: [], removed: 0 })
})

test('files of a bucket without a record are listed page by page, and removed on demand', async t => {
  const dialect = { ...KEYS, region: 'auto', style: 'path', bucket: 'pictures', page: 2 } as const
  const store = await startStrictS3(dialect)
  t.teardown(store.close)
  const endpoint = `http://127.0.0.1:${store.port}`
  const { kept, check } = await open(t, {
    provider: 's3',
    providerOptions: { ...KEYS, bucket: 'pictures', region: 'auto', endpoint },
  })
  const left = ['a_0123456789.txt', 'b_0123456789.txt', 'c_0123456789', 'z_0123456789.txt']
  const others = ['folder/of_0123456789.txt', 'new_0123456789.txt', 'index.html', kept]
  for (const key of [...left, ...others]) {
    const { bytes, headers } = store.files.get(key) ?? { bytes: Buffer.from('bytes'), headers: {} }
    store.files.set(key, {
      bytes,
      headers,
      ...(key.startsWith('new') ? {} : { modified: OLD.toISOString() }),
    })
  }
  const listed = await check(false)
  t.is(listed.code, 0, listed.text)
  t.deepEqual(
    listed.found.files.map(({ key }: { key: string }) => key),
    left,
  )
  t.like(listed.found.files[0], { size: 5, storedAt: OLD.toISOString() })
  t.like((await check(true)).found, { removed: 4 })
  t.deepEqual([...store.files.keys()].toSorted(), others.toSorted())
})

test('a storage of an extension, which cannot list its files, is named', async t => {
  const { folder, project, check } = await open(t)
  folder.write(
    'extensions/storage.mjs',
    `import { defineExtension } from 'plinth'
export default defineExtension({ register({ media }) {
  media.registerStorage('shelf', { open: () => ({ put() {}, get: () => null, stat: () => null, delete() {} }) })
} })`,
  )
  folder.write('project.yaml', project({ provider: 'shelf' }))
  t.like(await check(false), { code: 1, text: 'The storage `shelf` cannot list its files\n' })
})
