import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import test from 'ava'
import type { TestApp } from '../../core/testing.ts'
import { temporaryFolder } from '../harness/folder.ts'
import { openTestApp, teardownOfFile } from '../harness/test-app.ts'

// Text fields of multipart forms are UTF-8, as bodies of JSON are.

const TOKEN = 'a-secret-of-forty-letters-that-no-client-guesses'

const PROJECT = {
  name: 'Texts',
  rest: { responseFormat: 'v4' },
  contentTypes: { article: { attributes: { title: 'string', cover: { type: 'media' } } } },
  apiTokens: { all: { type: 'full-access', secret: TOKEN } },
}

const folder = temporaryFolder()
const file = teardownOfFile(test.after.always)
file.teardown(folder.remove)
folder.write('project.yaml', JSON.stringify(PROJECT))
let api: TestApp
test.before(async () => {
  api = await openTestApp(file, { project: folder.path })
})

type Encoding = 'utf8' | 'latin1'

interface Sent {
  readonly method?: string
  readonly path: string
  /** Parts: their headers after `form-data`, and their text. */
  readonly parts: readonly (readonly [headers: string, text: string])[]
  readonly encoding?: Encoding
}

async function send({ method = 'POST', path, parts, encoding = 'utf8' }: Sent) {
  const lines = parts.flatMap(([headers, text]) => [
    '--x',
    `Content-Disposition: form-data; ${headers}`,
    '',
    text,
  ])
  const { status, body } = await api.request(method, path, {
    body: Buffer.from([...lines, '--x--', ''].join('\r\n'), encoding),
    headers: { 'Content-Type': 'multipart/form-data; boundary=x' },
    token: TOKEN,
  })
  return { status, body, text: JSON.stringify(body) }
}

const data = ['name="data"', '{"title":"é"}'] as const
const cover = (field: string) => [`name="${field}"; filename="a.txt"`, 'text'] as const
const operations = [
  'name="operations"',
  JSON.stringify({
    variables: { f: null },
    query: 'mutation ($f: Upload!) { upload(file: $f, info: { caption: "é" }) { data { id } } }',
  }),
] as const
const map = ['name="map"', '{"0":["variables.f"]}'] as const

const storedFiles = (): readonly string[] =>
  ['staging', 'uploads'].flatMap(name => {
    const path = join(folder.path, '.plinth', name)
    return existsSync(path) ? readdirSync(path) : []
  })

test.serial('a text field that is not UTF-8 is refused with its name, and nothing is stored', async t => {
  const { id } = await api.app.documents('article').create({ data: { title: 'old' } })
  const cases: readonly (readonly [field: string, sent: Sent])[] = [
    ['data', { path: '/api/articles', parts: [data] }],
    ['data', { path: '/api/articles', parts: [data, cover('files.cover')] }],
    ['data', { path: '/api/articles', parts: [cover('files.cover'), data] }],
    ['data', { method: 'PUT', path: `/api/articles/${id}`, parts: [data, cover('files.cover')] }],
    ['fileInfo', { path: '/api/upload', parts: [['name="fileInfo"', '{"caption":"é"}'], cover('files')] }],
    ['fileInfo', { path: '/api/upload', parts: [cover('files'), ['name="fileInfo"', '{"caption":"é"}']] }],
    ['operations', { path: '/graphql', parts: [operations, map, cover('0')] }],
  ]
  for (const [field, sent] of cases) {
    const { status, text } = await send({ ...sent, encoding: 'latin1' })
    t.is(status, 400, text)
    t.true(text.includes(`invalid UTF-8: the field ${field} of a form has to be UTF-8 text`), text)
  }
  t.deepEqual(storedFiles(), [])
  const found = await api.app.documents('article').findMany({})
  t.deepEqual(
    found.map(({ title }) => title),
    ['old'],
  )
})

test.serial(
  'a text field is UTF-8 with and without a charset of its own, and may have any character',
  async t => {
    const title = 'é\uFFFD😀'
    for (const type of [
      '',
      '\r\nContent-Type: text/plain; charset=utf-8',
      '\r\nContent-Type: application/json',
    ]) {
      const parts = [[`name="data"${type}`, JSON.stringify({ title })], cover('files.cover')] as const
      const { status, body, text } = await send({ path: '/api/articles', parts })
      t.is(status, 200, text)
      t.like(body, { data: { attributes: { title } } })
    }
    const { status, text } = await send({ path: '/graphql', parts: [operations, map, cover('0')] })
    t.is(status, 200)
    t.false(text.includes('errors'), text)
  },
)

test.serial('a file without the name of a field is refused', async t => {
  const nameless = ['filename="a.txt"', 'text'] as const
  const { status, text } = await send({ path: '/api/articles', parts: [data, nameless] })
  t.is(status, 400, text)
  t.regex(text, /expected files and the name of a media attribute/)
})
