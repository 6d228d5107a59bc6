import test from 'ava'
import { openTestApp } from '../harness/test-app.ts'

const PROJECT = {
  auth: { register: { enabled: true } },
  roles: { public: { permissions: { auth: '*' } }, authenticated: { permissions: { users: ['me'] } } },
}

test('a password set by code ends older sessions, other changes do not; addresses are lower-cased', async t => {
  const { app, request } = await openTestApp(t, { project: PROJECT })
  const account = { username: 'ann', email: 'ann@example.org', password: 'the-first-one' }
  const registered = await request('POST', '/api/auth/local/register', { body: account })
  const { jwt, user } = registered.body as { jwt: string; user: { documentId: string } }
  const users = app.documents('plugin::users-permissions.user')
  const change = (data: Record<string, unknown>) => users.update({ documentId: user.documentId, data })
  const status = async () => (await request('GET', '/api/users/me', { token: jwt })).status
  const changed = await change({ username: 'anna', email: 'Anna@Example.Org' })
  t.is(changed?.email, 'anna@example.org')
  t.is(await status(), 200)
  await change({ password: 'another-one' })
  t.is(await status(), 401)
})
