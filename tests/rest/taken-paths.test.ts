import test from 'ava'
import { openTestApp } from '../harness/test-app.ts'

// Content-types may have the words that paths of the server itself begin with.
const project = {
  name: 'Taken',
  contentTypes: {
    reference: { kind: 'single', attributes: { text: 'string' } },
    search: { kind: 'single', attributes: { text: 'string' } },
    connect: { kind: 'single', attributes: { text: 'string' } },
    action: { draftAndPublish: true, attributes: { text: 'string' } },
    book: { draftAndPublish: true, search: { attributes: { text: 'A' } }, attributes: { text: 'string' } },
  },
  apiTokens: { all: { type: 'full-access', secret: 'a-secret-of-the-test-000' } },
} as const
const token = project.apiTokens.all.secret

test('a content-type has its paths, whatever else the server serves there', async t => {
  const api = await openTestApp(t, { project })
  for (const name of ['reference', 'search', 'connect']) {
    const put = await api.request('PUT', `/api/${name}`, { token, body: { data: { text: name } } })
    t.is(put.status, 200, name)
    for (const path of [`/api/${name}`, `/api/${name}/`])
      t.like((await api.request('GET', path, { token })).body, { data: { text: name } }, path)
  }

  const landing = await api.request('GET', '/', { headers: { accept: 'text/html' } })
  t.is(landing.status, 200)
  t.regex(String(landing.body), /openapi\.json/)
  t.notRegex(String(landing.body), /API reference|#get-/)
})

test('documents are unpublished beside a type whose plural is "actions"', async t => {
  const api = await openTestApp(t, { project })
  for (const [plural, uid] of [
    ['books', 'api::book.book'],
    ['actions', 'api::action.action'],
  ] as const) {
    const data = { text: 'one' }
    const { documentId } = await api.app.documents(uid).create({ data, status: 'published' })
    t.is((await api.request('GET', `/api/${plural}/${documentId}`, { token })).status, 200)
    const path = `/api/ACTIONS/${plural}/${documentId}/unpublish`
    t.is((await api.request('POST', path, { token })).status, 200, plural)
    t.is((await api.request('GET', `/api/${plural}/${documentId}`, { token })).status, 404)
  }
})
