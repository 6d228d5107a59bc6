import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import test from 'ava'
import { compileApp } from '../../core/app/compile-app.ts'
import { verifyPassword } from '../../core/base/passwords.ts'
import { syncRoles } from '../../core/identity/sync-declared-rows.ts'
import { openSite } from './site.ts'

const PROJECT = `
contentTypes:
  article:
    attributes:
      title: { type: string, required: true }
      slug: { type: uid, targetField: title, generate: true }
      owner: { type: relation, relation: manyToOne, target: user }
      cover: { type: media, multiple: false }
      gallery: { type: media, multiple: true }
  setting: { kind: single, attributes: { name: string, about: { type: relation, relation: oneToOne, target: article } } }
roles: { public: {}, authenticated: {}, editor: { name: Editors } }
`

const USERS = `on: sync
documents:
  - { username: ann, email: Ann@Example.org, password: secret-of-ann, role: editor, confirmed: true }
  - { username: bob, email: bob@example.org, password: secret-of-bob }
`

test('users are created with roles and hashed passwords, and documents refer to them by username', async t => {
  const site = await openSite(t, {
    'project.yaml': PROJECT,
    'content/users.yaml': USERS,
    'content/articles.yaml': '[{ documentId: a, title: One, owner: ann }]',
  })
  await site.must()
  const users = await site.rows(
    'SELECT u.username, u.email, u.password, u.provider, u.confirmed, u.blocked, r.type FROM plinth_users u LEFT JOIN plinth_roles r ON r.id = u.role_key ORDER BY u.id',
  )
  t.deepEqual(
    users.map(([username, email, , ...rest]) => [username, email, ...rest]),
    [
      ['ann', 'ann@example.org', 'local', true, false, 'editor'],
      ['bob', 'bob@example.org', 'local', false, false, null],
    ],
  )
  t.true(await verifyPassword('secret-of-ann', String(users[0]?.[2])))
  t.is((await site.get('articles/a?populate=owner')).owner.username, 'ann')
})

test('a password is set only when the user is created; other attributes are synced', async t => {
  const site = await openSite(t, { 'project.yaml': PROJECT, 'content/users.yaml': USERS })
  await site.must()
  t.deepEqual(await site.must({ 'content/users.yaml': USERS.replace('secret-of-ann', 'another-secret') }), {})
  const changed = USERS.replace('secret-of-ann', 'third-secret').replace(
    'confirmed: true',
    'confirmed: false',
  )
  t.deepEqual(await site.must({ 'content/users.yaml': changed }), { 'plugin::users-permissions.user': 1 })
  const [[password, confirmed] = []] = await site.rows(
    "SELECT password, confirmed FROM plinth_users WHERE username = 'ann'",
  )
  t.true(await verifyPassword('secret-of-ann', String(password)))
  t.is(confirmed, false)
})

test('a changed address ends sessions and invalidates codes; an unchanged one does not', async t => {
  const site = await openSite(t, { 'project.yaml': PROJECT, 'content/users.yaml': USERS })
  await site.must()
  await site.rows(
    "UPDATE plinth_users SET session_version = 3, reset_password_token = 'a', confirmation_token = 'b'",
  )
  const changed = USERS.replace('Ann@Example', 'anna@Example').replace('bob@example', 'BOB@example')
  await site.must({ 'content/users.yaml': changed.replace('role: editor', 'role: public') })
  t.deepEqual(
    await site.rows(
      'SELECT email, session_version, reset_password_token, confirmation_token FROM plinth_users ORDER BY id',
    ),
    [
      ['anna@example.org', 4, null, null],
      ['bob@example.org', 3, 'a', 'b'],
    ],
  )
})

test('a username of content/ matches a user who registered with it', async t => {
  const site = await openSite(t, { 'project.yaml': PROJECT })
  await site.must()
  await site.rows(
    "INSERT INTO plinth_users (document_id, username, email, created_at, updated_at) VALUES ('registered', 'ann', 'own@example.org', now(), now())",
  )
  await site.must({
    'content/users.yaml': USERS.replace('on: sync', 'on: create'),
    'content/articles.yaml': '[{ documentId: a, title: One, owner: ann }]',
  })
  t.is((await site.get('articles/a?populate=owner')).owner.documentId, 'registered')
  t.deepEqual(await site.rows("SELECT email FROM plinth_users WHERE username = 'ann'"), [['own@example.org']])
})

test('the same picture is stored once, for any number of uses and paths', async t => {
  const png = Buffer.from('89504e470d0a1a0a0000000d49484452000000030000000208060000009d74661a', 'hex')
  const site = await openSite(t, {
    'project.yaml': PROJECT,
    'content/media/a.png': png,
    'content/media/deep/a.png': png,
    'content/articles.yaml': `
- { documentId: a, title: One, cover: { file: a.png, alternativeText: A }, gallery: [{ file: a.png, alternativeText: A }, { file: a.png, alternativeText: B }] }
- { documentId: b, title: Two, cover: { file: deep/a.png, alternativeText: A } }
`,
  })
  await site.must()
  const a = await site.get('articles/a?populate[cover]=true&populate[gallery]=true')
  const b = await site.get('articles/b?populate=cover')
  t.deepEqual(a.cover, b.cover)
  t.deepEqual(
    a.gallery.map(({ alternativeText }: { alternativeText: string }) => alternativeText),
    ['A', 'B'],
  )
  t.is(a.gallery[0].id, a.cover.id)
  const { width, height, hash, ext, size, url, provider, formats } = a.cover
  t.deepEqual(
    { width, height, ext, size, provider, formats },
    { width: 3, height: 2, ext: '.png', size: 0.03, provider: 'local', formats: null },
  )
  t.regex(hash, /^a_[0-9a-f]{10}$/)
  t.is(url, `/uploads/${hash}.png`)
  t.deepEqual(readdirSync(join(site.folder.path, '.plinth/uploads')).length, 2)
})

test('uids are generated where declared, and are unique', async t => {
  const site = await openSite(t, {
    'project.yaml': PROJECT,
    'content/articles.yaml':
      '[{ documentId: a, title: Crème brûlée! }, { documentId: b, title: Creme Brulee }, { documentId: c, title: x, slug: creme-brulee-1 }]',
  })
  await site.must()
  const articles = await site.get('articles?sort=documentId')
  t.deepEqual(
    articles.map(({ slug }: { slug: string }) => slug),
    ['creme-brulee', 'creme-brulee-2', 'creme-brulee-1'],
  )
})

test('a single type has one document, with any documentId in the file', async t => {
  const site = await openSite(t, {
    'project.yaml': PROJECT,
    'content/articles.yaml': '[{ documentId: a, title: One }]',
    'content/setting.yaml': '{ on: sync, documents: [{ name: first, about: a }] }',
  })
  await site.must()
  await site.must({
    'content/setting.yaml': '{ on: sync, documents: [{ documentId: settings, name: second }] }',
  })
  t.is((await site.get('setting')).name, 'second')
  t.deepEqual(await site.rows('SELECT count(*) FROM settings'), [[1]])
})

test('roles and locales keep their ids over restarts', async t => {
  const site = await openSite(t, { 'project.yaml': PROJECT })
  await site.must()
  const roles = 'SELECT id, document_id, type, name FROM plinth_roles ORDER BY id'
  const before = await site.rows(roles)
  t.deepEqual(
    before.map(([, , type, name]) => [type, name]),
    [
      ['public', 'Public'],
      ['authenticated', 'Authenticated'],
      ['editor', 'Editors'],
    ],
  )
  await site.must({
    'project.yaml': PROJECT.replace('name: Editors', 'name: Writers').replace(
      'authenticated: {},',
      'authenticated: {}, guest: {},',
    ),
  })
  const after = await site.rows(roles)
  t.deepEqual(
    after.slice(0, 3).map(([id, documentId]) => [id, documentId]),
    before.map(([id, documentId]) => [id, documentId]),
  )
  t.deepEqual(
    after.map(([, , , name]) => name),
    ['Public', 'Authenticated', 'Writers', 'Guest'],
  )
})

test('a thousand documents with links and components are written in seconds, in as many statements as one', async t => {
  const many = (count: number) =>
    JSON.stringify(
      Array.from({ length: count }, (_, index) => ({
        documentId: `d${index}`,
        title: `Title ${index}`,
        owner: 'ann',
      })),
    )
  const site = await openSite(t, {
    'project.yaml': PROJECT,
    'content/users.yaml': USERS,
    'content/articles.yaml': many(1),
  })
  await site.must()
  const one = await openSite(t, {
    'project.yaml': PROJECT,
    'content/users.yaml': USERS,
    'content/articles.yaml': many(1000),
  })
  t.is((await one.must())['api::article.article'], 1000)
  t.is(one.statements.length, site.statements.length)
})

test('an assigned role cannot be removed from the project; the refusal gives the number of users', async t => {
  const site = await openSite(t, { 'project.yaml': PROJECT, 'content/users.yaml': USERS })
  await site.must()
  const compiled = await compileApp(site.folder.path, {})
  if (!compiled.ok) throw new Error('the project is good')
  const { project, model, storage } = compiled.value
  const { editor, ...rest } = project.settings.roles
  t.is(editor?.name, 'Editors')
  const options = { database: site.database, model, storage }
  const before = await site.rows('SELECT * FROM plinth_roles')
  t.deepEqual(await syncRoles(rest, options), { ok: false, reasons: [{ role: 'editor', users: 1 }] })
  t.deepEqual(await site.rows('SELECT * FROM plinth_roles'), before)
  await site.rows("DELETE FROM plinth_users WHERE username = 'ann'")
  t.true((await syncRoles(rest, options)).ok)
  t.deepEqual(await site.rows("SELECT type FROM plinth_roles WHERE type = 'editor'"), [])
})

test('passwords of a locale or a component that is added later are stored as hashes', async t => {
  const project = `
i18n: { locales: [en, fr], defaultLocale: en }
components: { door.lock: { attributes: { pin: password } } }
contentTypes:
  house:
    localized: true
    attributes: { name: string, code: password, lock: { type: component, component: door.lock } }
`
  const house = (more: string) =>
    `{ on: sync, documents: [{ documentId: a, name: A, code: first-code${more} }] }`
  const site = await openSite(t, { 'project.yaml': project, 'content/houses.yaml': house('') })
  await site.must()
  const [[english] = []] = await site.rows("SELECT code FROM houses WHERE locale = 'en'")
  await site.must({
    'content/houses.yaml': house(
      ', lock: { pin: "123456" }, locales: { fr: { name: Af, code: second-code } }',
    ),
  })
  t.deepEqual(await site.rows("SELECT code FROM houses WHERE locale = 'en'"), [[english]])
  const [[french] = []] = await site.rows("SELECT code FROM houses WHERE locale = 'fr'")
  t.true(await verifyPassword('second-code', String(french)))
  const [[pin] = []] = await site.rows('SELECT pin FROM components_door_lock')
  t.true(await verifyPassword('123456', String(pin)))
})
