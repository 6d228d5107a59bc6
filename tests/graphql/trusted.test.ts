import { createHash } from 'node:crypto'
import test from 'ava'
import { compileGenerated } from '../../core/graphql/compile-schema.ts'
import { loadTrusted } from '../../core/graphql/transport/trusted-documents.ts'
import { temporaryFolder } from '../harness/folder.ts'
import { compiled } from '../model/compiled.ts'
import { declare } from '../model/declare.ts'
import { openEndpoint } from './endpoint.ts'

const PROJECT = `
contentTypes:
  book: { attributes: { title: string } }
roles:
  public: { permissions: { book: [find] } }
`

const TITLES =
  'query Titles($limit: Int) { books(pagination: { limit: $limit }) { data { attributes { title } } } }\n'
const sha256 = (text: string) => createHash('sha256').update(text).digest('hex')

async function load(files: Readonly<Record<string, string>>, options: string) {
  const folder = temporaryFolder()
  for (const [name, text] of Object.entries(files)) folder.write(`documents/${name}`, text)
  const yaml = `${PROJECT}graphql: { config: { trustedDocuments: ${options} } }`
  const project = await declare(yaml)
  const { graphql } = project.settings
  const { schema } = compileGenerated({ format: 'nested', model: compiled(project), settings: graphql })
  const location = { file: 'project.yaml', line: 1, column: 1, source: '' }
  const loaded = await loadTrusted({ root: folder.path, config: graphql.config, schemas: [schema], location })
  folder.remove()
  return { yaml, loaded }
}

test('a trusted document is executed by its name or its hash, as clients send it', async t => {
  const { yaml, loaded } = await load({ 'books/titles.graphql': TITLES }, '{ folder: documents, only: true }')
  if (!loaded.ok || !loaded.value) return t.fail()
  const { create, post, send } = await openEndpoint(t, yaml, { trusted: loaded.value })
  await create('book', { title: 'Solaris' })
  const variables = { limit: 1 }
  const right = { data: { books: { data: [{ attributes: { title: 'Solaris' } }] } } }
  const persisted = (sha256Hash: string) => ({ extensions: { persistedQuery: { version: 1, sha256Hash } } })
  const forms = [
    { documentId: 'books/titles' },
    { documentId: `sha256:${sha256(TITLES)}` },
    { doc_id: sha256(TITLES.trimEnd()) },
    persisted(sha256(TITLES.trimEnd())),
    { query: TITLES },
    { query: TITLES.trimEnd(), ...persisted('unknown') },
  ]
  for (const form of forms)
    t.deepEqual((await post({ ...form, variables })).body, right, JSON.stringify(form))
  const search = new URLSearchParams({
    variables: '{"limit":1}',
    extensions: JSON.stringify(persisted(sha256(TITLES)).extensions),
  })
  t.deepEqual(JSON.parse(String((await send({ method: 'GET', search: String(search) }))?.body)), right)

  for (const query of ['{ __typename }', '{ __schema { types { name } } }', `${TITLES} `.repeat(2)]) {
    const { status, body } = await post({ query })
    t.is(status, 400)
    t.is(body.errors[0].extensions.code, 'UNTRUSTED_DOCUMENT')
  }
  for (const documentId of ['nope', '__proto__', '../titles']) {
    const unknown = await post({ documentId })
    t.is(unknown.status, 200)
    t.is(unknown.body.errors[0].extensions.code, 'PERSISTED_QUERY_NOT_FOUND')
  }
})

test('without trusted documents clients are asked to send their query', async t => {
  const { post } = await openEndpoint(t, PROJECT)
  const { body } = await post({ extensions: { persistedQuery: { version: 1, sha256Hash: sha256(TITLES) } } })
  t.deepEqual(body.errors, [
    { message: 'PersistedQueryNotSupported', extensions: { code: 'PERSISTED_QUERY_NOT_SUPPORTED' } },
  ])
})

test('all errors of trusted documents are reported with file, line and column', async t => {
  const { loaded } = await load(
    {
      'a.graphql': 'query A {\n  books {\n    nope\n  }\n}\n',
      'deep/b.graphql': '{ books { ',
      'c.graphql': TITLES,
      'notes.txt': 'not read',
    },
    '{ folder: documents }',
  )
  if (loaded.ok) return t.fail()
  const reported = loaded.reasons.map(
    ({ location, message }) => `${location.file}:${location.line}:${location.column} ${message}`,
  )
  t.is(reported.length, 2)
  t.regex(reported[0] ?? '', /^documents\/a\.graphql:3:5 Cannot query field "nope"/)
  t.regex(reported[1] ?? '', /^documents\/deep\/b\.graphql:1:\d+ Syntax Error/)
  const { loaded: missing } = await load({}, '{ folder: documents }')
  t.false(missing.ok)
})
