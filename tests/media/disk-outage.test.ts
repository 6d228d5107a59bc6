import fs, { readdirSync } from 'node:fs'
import files from 'node:fs/promises'
import { join } from 'node:path'
import { Writable } from 'node:stream'
import test from 'ava'
import sharp from 'sharp'
import { temporaryFolder } from '../harness/folder.ts'
import { replaceFunctions } from '../harness/replace-functions.ts'
import { openTestApp } from '../harness/test-app.ts'
import { uploadText } from './upload-text.ts'

const TOKEN = 'a-secret-of-forty-letters-that-cannot-be-guessed'

const PROJECT = `name: Files
contentTypes: { note: { attributes: { text: string } } }
apiTokens: { all: { type: full-access, secret: ${TOKEN} } }
`

const MEMORY = `import { Readable } from 'node:stream'
import { defineExtension } from 'plinth'
const stored = new Map()
const provider = {
  async put(key, file) {
    if (globalThis.diskOutage) throw globalThis.diskOutage
    stored.set(key, Buffer.concat(await file.stream().toArray()))
  },
  get: key => (stored.has(key) ? Readable.from([stored.get(key)]) : null),
  stat: key => (stored.has(key) ? { size: stored.get(key).length } : null),
  delete: key => void stored.delete(key),
}
export default defineExtension({
  register: ({ media }) => void media.registerStorage('memory', { open: () => provider }),
})
`

const diskError = (code: string) =>
  Object.assign(new Error(`${code}: the disk refuses`), { code, syscall: 'write' })

test.serial(
  'a replacement is 503 while the disk has no room for the bytes that it overwrites, and changes nothing',
  async t => {
    const folder = temporaryFolder()
    t.teardown(folder.remove)
    folder.write('project.yaml', `${PROJECT}upload: { provider: memory }\n`)
    folder.write('extensions/memory.mjs', MEMORY)
    const app = await openTestApp(t, { project: folder.path })
    const upload = (text: string, search = '') => uploadText(app, TOKEN, text, search)
    const [file] = (await upload('old')).body as readonly { readonly id: number; readonly url: string }[]
    const search = `?id=${file?.id}`
    const { createWriteStream } = fs
    let left = 1
    const failing = new Writable({ write: (_part, _encoding, done) => done(diskError('ENOSPC')) })
    const restore = replaceFunctions(t, fs, {
      createWriteStream: ((...words: Parameters<typeof createWriteStream>) =>
        left-- > 0 ? createWriteStream(...words) : failing) as typeof createWriteStream,
    })
    const full = await upload('new', search)
    restore()
    t.is(full.status, 503)
    t.is((await app.request('GET', file?.url ?? '', { token: TOKEN })).body, 'old')
    // Storages of extensions may reject with the error of the disk, too, with or without its system call.
    for (const [error, expected] of [
      [diskError('ENOSPC'), 503],
      [Object.assign(new Error('the quota is used'), { code: 'EDQUOT' }), 503],
      [diskError('EIO'), 500],
    ] as const) {
      Object.assign(globalThis, { diskOutage: error })
      for (const where of ['', search])
        t.is((await upload('new', where)).status, expected, `${error.message} ${where}`)
    }
    Object.assign(globalThis, { diskOutage: null })
    t.true(app.log().some(line => line.includes('the storage `memory` failed to put')))
    t.is((await app.request('GET', file?.url ?? '', { token: TOKEN })).body, 'old')
    t.deepEqual(readdirSync(join(folder.path, '.plinth', 'staging')), [])
    t.is((await upload('new', search)).status, 200)
  },
)

test.serial(
  'a picture is 503 while the disk has no room for its smaller ones, and leaves nothing',
  async t => {
    const folder = temporaryFolder()
    t.teardown(folder.remove)
    folder.write('project.yaml', PROJECT)
    const app = await openTestApp(t, { project: folder.path })
    const create = { width: 800, height: 600, channels: 3, background: 'red' } as const
    const bytes = new Uint8Array(await sharp({ create }).png().toBuffer())
    const upload = () => {
      const form = new FormData()
      form.append('files', new Blob([bytes]), 'red.png')
      return app.request('POST', '/api/upload', { body: form, token: TOKEN })
    }
    const { writeFile } = files
    for (const [code, expected] of [
      ['ENOSPC', 503],
      ['EIO', 500],
    ] as const) {
      // The first smaller picture is written, the second one in part.
      let left = 1
      const failing = async (...words: Parameters<typeof writeFile>) => {
        await writeFile(...words)
        if (left-- < 1) throw diskError(code)
      }
      const restore = replaceFunctions(t, files, { writeFile: failing })
      const { status } = await upload()
      restore()
      t.is(status, expected, code)
      t.is(left, -1)
      t.deepEqual(readdirSync(join(folder.path, '.plinth', 'staging')), [])
    }
    const { status, body } = await upload()
    t.is(status, 201)
    const [file] = body as readonly { readonly formats: object }[]
    t.deepEqual(Object.keys(file?.formats ?? {}).toSorted(), ['medium', 'small', 'thumbnail'])
  },
)

test.serial('an upload is 503 while the disk is full or read-only, and leaves nothing', async t => {
  const folder = temporaryFolder()
  t.teardown(folder.remove)
  folder.write('project.yaml', PROJECT)
  const app = await openTestApp(t, { project: folder.path })
  const upload = () => uploadText(app, TOKEN, 'text')
  t.is((await upload()).status, 201)
  for (const [code, expected] of [
    ['ENOSPC', 503],
    ['EROFS', 503],
    ['EIO', 500],
  ] as const)
    for (const broken of ['store', 'staging']) {
      const failing = () => new Writable({ write: (_part, _encoding, done) => done(diskError(code)) })
      const restore =
        broken === 'store'
          ? replaceFunctions(t, files, { copyFile: () => Promise.reject(diskError(code)) })
          : replaceFunctions(t, fs, { createWriteStream: failing as unknown as typeof fs.createWriteStream })
      const answer = await upload()
      restore()
      t.is(answer.status, expected, `${broken} ${code}`)
      if (expected === 503) t.like(answer.body, { error: { details: { outcome: 'not-written' } } })
    }
  t.true(app.log().some(line => line.includes('ENOSPC: the disk refuses')))
  t.deepEqual(readdirSync(join(folder.path, '.plinth', 'staging')), [])
  t.is(readdirSync(join(folder.path, '.plinth', 'uploads')).length, 1)
  t.is((await upload()).status, 201)
})
