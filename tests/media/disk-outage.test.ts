import fs, { readdirSync } from 'node:fs'
import files from 'node:fs/promises'
import { syncBuiltinESMExports } from 'node:module'
import { join } from 'node:path'
import { Writable } from 'node:stream'
import test from 'ava'
import { temporaryFolder } from '../harness/folder.ts'
import { openTestApp } from '../harness/test-app.ts'

const TOKEN = 'a-secret-of-forty-letters-that-cannot-be-guessed'

const PROJECT = `name: Files
contentTypes: { note: { attributes: { text: string } } }
apiTokens: { all: { type: full-access, secret: ${TOKEN} } }
`

const diskError = (code: string) =>
  Object.assign(new Error(`${code}: the disk refuses`), { code, syscall: 'write' })

test('an upload is 503 while the disk is full or read-only, and leaves nothing', async t => {
  const folder = temporaryFolder()
  t.teardown(folder.remove)
  folder.write('project.yaml', PROJECT)
  const app = await openTestApp(t, { project: folder.path })
  const upload = () => {
    const body = new FormData()
    body.append('files', new Blob(['text']), 'a.txt')
    return app.request('POST', '/api/upload', { body, token: TOKEN })
  }
  t.is((await upload()).status, 201)
  const { copyFile } = files
  const { createWriteStream } = fs
  const restore = () => {
    Object.assign(files, { copyFile })
    Object.assign(fs, { createWriteStream })
    syncBuiltinESMExports()
  }
  t.teardown(restore)
  for (const [code, expected] of [
    ['ENOSPC', 503],
    ['EROFS', 503],
    ['EIO', 500],
  ] as const)
    for (const broken of ['store', 'staging']) {
      if (broken === 'store') Object.assign(files, { copyFile: () => Promise.reject(diskError(code)) })
      else
        Object.assign(fs, {
          createWriteStream: () => new Writable({ write: (_part, _encoding, done) => done(diskError(code)) }),
        })
      syncBuiltinESMExports()
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
