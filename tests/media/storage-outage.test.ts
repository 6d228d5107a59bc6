import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import test from 'ava'
import { temporaryFolder } from '../harness/folder.ts'
import { openTestApp } from '../harness/test-app.ts'
import { startStrictS3 } from './strict-s3.ts'
import { uploadText } from './upload-text.ts'

// docs/uploads.md#dialects-of-s3: what a client is answered while the store is away.

const KEYS = { accessKeyId: 'AKID', secretAccessKey: 'secret' }
const TOKEN = 'a-secret-of-forty-letters-that-cannot-be-guessed'

const project = (port: number) => `name: Files
upload:
  provider: s3
  providerOptions: ${JSON.stringify({ ...KEYS, bucket: 'pictures', endpoint: `http://127.0.0.1:${port}` })}
contentTypes: { note: { attributes: { text: string } } }
apiTokens: { all: { type: full-access, secret: ${TOKEN} } }
`

test('uploads and replacements are 503 while the store is away, and change nothing; other refusals are 500', async t => {
  let status = 0
  const store = await startStrictS3({
    ...{ ...KEYS, region: 'us-east-1', style: 'path', bucket: 'pictures' },
    disturb(request, response) {
      if (status === 0) return undefined
      request.resume()
      if (status === -1) response.destroy()
      else response.writeHead(status).end('<Error><Code>Odd</Code></Error>')
      return true
    },
  })
  t.teardown(store.close)
  const folder = temporaryFolder()
  t.teardown(folder.remove)
  folder.write('project.yaml', project(store.port))
  const app = await openTestApp(t, { project: folder.path })
  const upload = (text: string, search = '') => uploadText(app, TOKEN, text, search)
  const [file] = (await upload('old')).body as readonly { readonly id: number; readonly hash: string }[]
  for (const [next, expected] of [
    [-1, 503],
    [503, 503],
    [429, 503],
    [403, 500],
  ] as const) {
    status = next
    for (const search of ['', `?id=${file?.id}`]) {
      const answer = await upload('new', search)
      t.is(answer.status, expected, `${next} ${search}`)
      // A replacement has looked for its file in a transaction before.
      if (expected === 503 && search === '') {
        t.like(answer.body, { error: { details: { outcome: 'not-written' } } })
        t.is(answer.headers['retry-after'], '1')
      }
    }
  }
  t.true(app.log().some(line => line.includes('The S3 store did not answer PUT of a_')))
  t.true(app.log().some(line => line.includes('The S3 store answered 503 Odd to PUT of a_')))
  status = 0
  t.deepEqual(
    [...store.files].map(([key, { bytes }]) => [key.split('/').at(-1), bytes.toString()]),
    [[`${file?.hash}.txt`, 'old']],
  )
  t.deepEqual(readdirSync(join(folder.path, '.plinth', 'staging')), [])
  t.is((await upload('new', `?id=${file?.id}`)).status, 200)
})
