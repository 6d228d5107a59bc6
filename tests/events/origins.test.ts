import test, { type ExecutionContext } from 'ava'
import type { TestApp } from '../../core/testing.ts'
import { temporaryFolder } from '../harness/folder.ts'
import { openTestApp } from '../harness/test-app.ts'

const TOKEN = 'a-secret-of-forty-letters-that-is-not-guessed'

const PROJECT = {
  contentTypes: {
    note: { attributes: { text: 'string', secret: { type: 'string', private: true } } },
    article: { draftAndPublish: true, attributes: { title: 'string' } },
  },
  roles: {
    public: { permissions: { note: ['create'], auth: '*' } },
    authenticated: {
      permissions: {
        note: { create: { set: { secret: '$user.username' } } },
        users: ['me', 'update'],
        auth: '*',
      },
    },
  },
  apiTokens: { robot: { type: 'full-access', secret: TOKEN } },
}

/** Logs the events that it receives, without times and ids. */
const EXTENSION = `
import { defineExtension } from 'plinth'

export default defineExtension({
  register({ documents, rest, app }) {
    const heard = ({ id, at, uid, action, ...event }) => app.log.info('heard ' + JSON.stringify(event))
    for (const name of ['note.*', 'article.*', 'user.*', 'file.*']) documents.on(name, heard)
    rest.route('POST', '/mine', async ({ state }) => {
      const { documentId } = await app.documents('note').as(state.ability).create({ data: { text: 'as' } })
      await app.documents('note').update({ documentId, data: { text: 'own' } })
      return {}
    }, { auth: false })
  },
})
`

interface Heard {
  readonly name: string
  readonly documentId: string
  readonly [key: string]: unknown
}

async function open(t: ExecutionContext): Promise<TestApp & { heard(): Promise<readonly Heard[]> }> {
  const folder = temporaryFolder()
  t.teardown(folder.remove)
  folder.write('project.yaml', JSON.stringify({ name: 'Origins', ...PROJECT }))
  folder.write('extensions/listen.ts', EXTENSION)
  folder.write('content/articles.yaml', '[{ documentId: a, title: One }]')
  folder.write('content/users.yaml', '[{ username: ann, email: ann@example.org, password: ann-password }]')
  const app = await openTestApp(t, { project: folder.path })
  let read = 0
  const heard = async () => {
    await app.settled()
    const lines = app.log()
    const fresh = lines.slice(read).flatMap(line => line.match(/heard (\{.*?\})(?="|$)/)?.[1] ?? [])
    read = lines.length
    return fresh.map(line => JSON.parse(line.replaceAll('\\"', '"')) as Heard)
  }
  return { ...app, heard }
}

const ANONYMOUS = { user: null, role: null, token: null }

test('an event contains the writer and the changed attributes for every interface, without values', async t => {
  const { heard, request } = await open(t)
  const started = (await heard()).toSorted((a, b) => a.name.localeCompare(b.name))
  t.like(started, [
    { name: 'article.create', documentId: 'a', status: 'draft', attributes: ['title'], ...ANONYMOUS },
    { name: 'article.publish', documentId: 'a', status: 'published', attributes: [], ...ANONYMOUS },
    { name: 'user.create', status: 'published', ...ANONYMOUS },
  ])

  const account = { username: 'bea', email: 'bea@example.org', password: 'bea-password' }
  const registered = await request('POST', '/api/auth/local/register', { body: account })
  const { jwt: token, user } = registered.body as { jwt: string; user: { id: number; documentId: string } }
  const bea = { id: user.id, documentId: user.documentId }
  const [joined] = await heard()
  t.like(joined, { name: 'user.create', documentId: bea.documentId, user: bea })
  const said = JSON.stringify(joined)
  t.true(said.includes('"password"'))
  t.false(said.includes('bea-password'))

  await request('POST', '/api/notes', { body: { data: { text: 'x' } }, token })
  await request('POST', '/api/notes', { body: { data: { text: 'x' } }, token: TOKEN })
  await request('POST', '/api/notes', { body: { data: { text: 'x' } } })
  const written = await heard()
  t.deepEqual(
    written.map(({ attributes, user, role, token }) => ({ attributes, user, role, token })),
    [
      { attributes: ['text', 'secret'], user: bea, role: 'authenticated', token: null },
      { attributes: ['text'], user: null, role: null, token: 'robot' },
      { attributes: ['text'], user: null, role: 'public', token: null },
    ],
  )

  await request('POST', '/api/mine', { token })
  t.like(await heard(), [
    { name: 'note.create', user: bea, role: 'authenticated' },
    { name: 'note.update', ...ANONYMOUS },
  ])

  await request('PUT', `/api/users/${bea.id}`, { body: { username: 'beate' }, token })
  const passwords = {
    currentPassword: 'bea-password',
    password: 'new-password',
    passwordConfirmation: 'new-password',
  }
  await request('POST', '/api/auth/change-password', { body: passwords, token })
  await request('POST', '/api/auth/forgot-password', { body: { email: 'bea@example.org' } })
  t.like(await heard(), [
    { name: 'user.update', attributes: ['username'], user: bea, role: 'authenticated' },
    { name: 'user.update', attributes: ['password'], user: bea, role: null },
  ])

  const form = new FormData()
  form.append('files', new Blob(['hello'], { type: 'text/plain' }), 'hello.txt')
  const uploaded = await request('POST', '/api/upload', { body: form, token: TOKEN })
  const [{ id, documentId } = { id: 0, documentId: '' }] = uploaded.body as {
    id: number
    documentId: string
  }[]
  const info = new FormData()
  info.append('fileInfo', JSON.stringify({ caption: 'Hello' }))
  await request('POST', `/api/upload?id=${id}`, { body: info, token: TOKEN })
  await request('DELETE', `/api/upload/files/${id}`, { token: TOKEN })
  t.like(await heard(), [
    { name: 'file.create', documentId, token: 'robot', user: null },
    { name: 'file.update', documentId, token: 'robot', attributes: ['caption'] },
    { name: 'file.delete', documentId, token: 'robot' },
  ])
})
