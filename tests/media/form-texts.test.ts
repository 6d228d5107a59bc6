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

test.serial('a part without a name is refused, whether it is a file or text', async t => {
  const before = storedFiles()
  for (const headers of ['filename="a.txt"', 'name=""', 'name=""; filename="a.txt"', 'size="1"']) {
    for (const path of ['/api/articles', '/api/upload', '/graphql']) {
      const { status, text } = await send({ path, parts: [data, cover('files'), [headers, 'text']] })
      t.is(status, 400, text)
      t.true(text.includes('The form cannot be read: a part has no name'), text)
    }
  }
  t.deepEqual(storedFiles(), before)
})

test.serial(
  'headers of parts that are not UTF-8 are refused with the header, and nothing is stored',
  async t => {
    const before = storedFiles()
    const ascii = [operations[0], operations[1].replace('é', 'e')] as const
    const cases: readonly (readonly [shown: string, headers: string])[] = [
      ['filename=\\"caf\uFFFD.txt\\"', 'name="files"; filename="café.txt"'],
      ['name=\\"fil\uFFFDs\\"', 'name="filés"; filename="a.txt"'],
      ["filename*=UTF-8''caf%E9.txt", 'name="files"; filename="a.txt"; filename*=UTF-8\'\'caf%E9.txt'],
      ['content-type: text/\uFFFD', 'name="files"; filename="a.txt"\r\nContent-Type: text/é'],
      ['x-other: \uFFFD', 'name="files"; filename="a.txt"\r\nX-Other: é'],
      ['name=\\"d\uFFFDta\\"', 'name="dáta"'],
    ]
    for (const [shown, headers] of cases)
      for (const path of ['/api/upload', '/api/articles', '/graphql']) {
        const first = path === '/graphql' ? [ascii, map] : [cover('files')]
        const parts = [...first, [headers, 'text']] as const
        const { status, text } = await send({ path, parts, encoding: 'latin1' })
        t.is(status, 400, text)
        t.true(text.includes(`invalid UTF-8: the headers of part ${parts.length} of the form`), text)
        t.true(text.includes(shown), text)
      }
    t.deepEqual(storedFiles(), before)
  },
)

test.serial('names of files may have any character of UTF-8, also encoded', async t => {
  const cases: readonly (readonly [name: string, headers: string])[] = [
    ['é\uFFFD😀.txt', 'filename="é\uFFFD😀.txt"'],
    ['é\uFFFD.txt', "filename*=UTF-8''%C3%A9%EF%BF%BD.txt"],
    ['é.txt', "filename*=ISO-8859-1''%E9.txt"],
    ['100%E9.txt', 'filename="100%E9.txt"'],
    ['12\\".txt', 'filename="12%22.txt"'],
    ['file', 'filename=".."'],
    ['file', 'filename="../"'],
    ['b.txt', 'filename="..\\a/b.txt"'],
  ]
  for (const [name, headers] of cases) {
    const { status, text } = await send({
      path: '/api/upload',
      parts: [[`name="files"; ${headers}`, 'text']],
    })
    t.is(status, 201, text)
    t.true(text.includes(`"name":"${name}"`), text)
  }
})

test.serial(
  'headers of parts over a limit, or without form-data, are refused instead of cut or skipped',
  async t => {
    const before = storedFiles()
    const many = (count: number) => Array.from({ length: count }, (_, index) => `\r\nX-${index}: 1`).join('')
    const cases: readonly (readonly [status: number, message: string, disposition: string])[] = [
      [
        413,
        'Part 2 of the form may have at most 50 headers',
        `form-data; name="files"; filename="a.txt"${many(50)}`,
      ],
      [
        413,
        'The headers of part 2 of the form may have at most 8192 bytes',
        `form-data; name="files"; filename="${'a'.repeat(8200)}.txt"`,
      ],
      [
        413,
        'The headers of part 2 of the form may have at most 8192 bytes',
        `form-data; name="files"; filename="${'a'.repeat(20_000)}.txt"`,
      ],
      [
        400,
        'The form cannot be read: part 2 has no header Content-Disposition: form-data',
        'attachment; name="files"; filename="a.txt"',
      ],
      [400, 'The form cannot be read: part 2 has no header Content-Disposition: form-data', 'x'],
    ]
    for (const [status, message, disposition] of cases) {
      const lines = ['--x', 'Content-Disposition: form-data; name="files"; filename="a.txt"', '', 'text']
      const body = [...lines, '--x', `Content-Disposition: ${disposition}`, '', 'text', '--x--', ''].join(
        '\r\n',
      )
      const answer = await api.request('POST', '/api/upload', {
        body: Buffer.from(body),
        headers: { 'Content-Type': 'multipart/form-data; boundary=x' },
        token: TOKEN,
      })
      t.is(answer.status, status, JSON.stringify(answer.body))
      t.true(JSON.stringify(answer.body).includes(message), JSON.stringify(answer.body))
    }
    t.deepEqual(storedFiles(), before)
    const { status } = await send({
      path: '/api/upload',
      parts: [[`name="files"; filename="a.txt"${many(49)}`, 'text']],
    })
    t.is(status, 201)
  },
)
