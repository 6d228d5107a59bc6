import test from 'ava'
import { type Action, actionsOf, BUILT_IN_ACTIONS } from '../../core/access/actions.ts'
import type { Grants } from '../../core/access/caller.ts'
import { typeOf, type World, world } from './project.ts'

const grantsOf = ({ access }: World, name: string): Grants => {
  const grants = access.roles.get(name) ?? access.tokens.get(name)
  if (!grants) throw new Error(`no ${name}`)
  return grants
}

/** The actions of a role on a type, in the table's order. */
const may = (of: World, name: string, key: string): string =>
  actionsOf(typeOf(of.model, key))
    .filter(action => grantsOf(of, name).allows(key === 'user' ? 'users' : key, action))
    .join(' ')

test('nothing is granted without a declaration', async t => {
  const of = await world('roles: { editor: {} }')
  for (const type of of.model.contentTypes.values()) {
    for (const action of actionsOf(type)) {
      for (const role of ['public', 'authenticated', 'editor'])
        t.is(grantsOf(of, role).readAccess(type, action), null)
    }
  }
})

test('a role inherits the permissions that it extends; its own replace them, and false removes one', async t => {
  const of = await world(`
roles:
  reader: { permissions: { writer: [find, findOne, delete] } }
  editor:
    extends: reader
    permissions: { writer: { find: { fields: [name] }, delete: false, update: true } }
  chief: { extends: [editor], permissions: { writer: { delete: true } } }
`)
  t.is(may(of, 'reader', 'writer'), 'find findOne delete')
  t.is(may(of, 'editor', 'writer'), 'find findOne update')
  t.is(may(of, 'chief', 'writer'), 'find findOne update delete')
  const writer = typeOf(of.model, 'writer')
  const names = [...(grantsOf(of, 'chief').readAccess(writer, 'find')?.readable ?? [])].map(
    ({ name }) => name,
  )
  t.deepEqual(names, ['id', 'documentId', 'name', 'createdAt', 'updatedAt', 'publishedAt'])
})

test('roles inherit from public only on request', async t => {
  const of = await world(`
roles:
  public: { permissions: { vault: [find] } }
  guest: { extends: public }
  editor: {}
`)
  t.is(may(of, 'guest', 'vault'), 'find')
  t.is(may(of, 'editor', 'vault'), '')
})

test('"*" matches every content-type of the project, not users, files or roles; a named type takes precedence', async t => {
  const of = await world(`
roles:
  base: { permissions: { vault: { find: false } } }
  editor: { extends: base, permissions: { "*": [find, findOne], writer: { findOne: false, delete: true } } }
`)
  t.is(may(of, 'editor', 'book'), 'find findOne')
  t.is(may(of, 'editor', 'writer'), 'find delete')
  t.is(may(of, 'editor', 'vault'), 'findOne')
  t.is(may(of, 'editor', 'user'), '')
  t.false(grantsOf(of, 'editor').allows('upload', 'find'))
})

test('"*" as an action matches every action of the subject; a named action takes precedence', async t => {
  const of = await world(`
roles: { editor: { permissions: { "*": "*", book: { "*": true, delete: false }, users: "*" } } }
`)
  t.is(may(of, 'editor', 'writer'), 'find findOne create update delete')
  t.is(may(of, 'editor', 'book'), 'find findOne create update publish readDrafts createLocalization')
  t.is(may(of, 'editor', 'user'), BUILT_IN_ACTIONS.users.join(' '))
})

test('find and findOne show published documents; update implies readDrafts, create and update imply publish', async t => {
  const of = await world(`
roles:
  public: { permissions: { book: [find, findOne] } }
  everywhere: { permissions: { "*": [find, findOne] } }
  reviewer: { permissions: { book: [find, readDrafts] } }
  author: { permissions: { book: [find, create] } }
  editor: { permissions: { book: [find, update] } }
`)
  t.is(may(of, 'public', 'book'), 'find findOne')
  t.is(may(of, 'everywhere', 'book'), 'find findOne')
  t.is(may(of, 'reviewer', 'book'), 'find readDrafts')
  t.is(may(of, 'author', 'book'), 'find create publish')
  t.is(may(of, 'editor', 'book'), 'find update publish readDrafts')
  t.is(may(of, 'editor', 'writer'), '')
})

test('naming publish or readDrafts never removes the other, inherited or not', async t => {
  const of = await world(`
roles:
  editor: { permissions: { book: [find, create, update] } }
  drafter: { permissions: { book: [find, create, readDrafts] } }
  releaser: { permissions: { book: [find, update, publish] } }
  blind: { permissions: { book: { find: true, update: true, readDrafts: false } } }
  held: { permissions: { book: { find: true, update: true, publish: false } } }
  heldHeir: { extends: editor, permissions: { book: { publish: false } } }
  blindHeir: { extends: editor, permissions: { book: { readDrafts: false } } }
  namingHeir: { extends: editor, permissions: { book: [readDrafts] } }
  publishingHeir: { extends: drafter, permissions: { book: [publish] } }
  grandchild: { extends: namingHeir, permissions: { book: { publish: { where: { price: 3 } } } } }
  stars: { permissions: { "*": [publish], book: [find, update] } }
`)
  const all = 'find create update publish readDrafts'
  t.is(may(of, 'editor', 'book'), all)
  t.is(may(of, 'drafter', 'book'), 'find create publish readDrafts')
  t.is(may(of, 'releaser', 'book'), 'find update publish readDrafts')
  t.is(may(of, 'blind', 'book'), 'find update publish')
  t.is(may(of, 'held', 'book'), 'find update readDrafts')
  t.is(may(of, 'heldHeir', 'book'), 'find create update readDrafts')
  t.is(may(of, 'blindHeir', 'book'), 'find create update publish')
  t.is(may(of, 'namingHeir', 'book'), all)
  t.is(may(of, 'publishingHeir', 'book'), 'find create publish readDrafts')
  t.is(may(of, 'grandchild', 'book'), all)
  t.is(may(of, 'stars', 'book'), 'find update publish readDrafts')
})

test('update of some documents implies readDrafts of the same documents', async t => {
  const of = await world(`
roles: { author: { permissions: { book: { find: true, update: { where: { price: 3 }, fields: [title] } } } } }
`)
  const view = grantsOf(of, 'author').readAccess(typeOf(of.model, 'book'), 'find')
  t.is(view?.where, null)
  t.is(view?.drafts?.where?.kind, 'fixed')
})

test('fields with ! mean all except those, and never make private attributes readable', async t => {
  const of = await world(`
roles:
  less: { permissions: { writer: { find: { fields: ["!age", "!account"] } } } }
  more: { permissions: { writer: { create: { fields: [name, secret, pin] } } } }
`)
  const names = (role: string, action: Action) =>
    [...(grantsOf(of, role).readAccess(typeOf(of.model, 'writer'), action)?.readable ?? [])]
      .filter(({ system }) => !system)
      .map(({ name }) => name)
  t.deepEqual(names('less', 'find'), ['name', 'salary', 'portrait', 'books'])
  t.deepEqual(names('more', 'create'), ['name'])
})

test('signing in is public unless the public role restricts it; changing a password never is', async t => {
  const may = (of: World, name: string, action: Action) => grantsOf(of, name).allows('auth', action)
  const open = await world('roles: { editor: {} }')
  t.true(may(open, 'public', 'login'))
  t.true(may(open, 'editor', 'register'))
  t.false(may(open, 'editor', 'changePassword'))
  const closed = await world('roles: { public: { permissions: { auth: [login] } }, editor: {} }')
  t.true(may(closed, 'public', 'login'))
  t.false(may(closed, 'public', 'register'))
  t.false(may(closed, 'editor', 'login'))
})

test('a read-only token finds everything and nothing else, a full-access one may do all, a custom one what it declares', async t => {
  const of = await world(`
apiTokens:
  all: { type: full-access, secret: all-all-all-all-all-all }
  read: { type: read-only, secret: read-read-read-read-read }
  feed: { type: custom, secret: feed-feed-feed-feed-feed, permissions: { writer: { find: { where: { age: 3 } } } } }
`)
  for (const type of of.model.contentTypes.values()) {
    for (const action of actionsOf(type)) {
      t.truthy(grantsOf(of, 'all').readAccess(type, action), `all ${type.uid} ${action}`)
      const read = ['find', 'findOne', 'readDrafts'].includes(action)
      t.is(grantsOf(of, 'read').readAccess(type, action) !== null, read, `read ${type.uid} ${action}`)
      const feed = type.key === 'writer' && action === 'find'
      t.is(grantsOf(of, 'feed').readAccess(type, action) !== null, feed, `feed ${type.uid} ${action}`)
    }
  }
})

test('$user paths in conditions and set values are listed without duplicates', async t => {
  const of = await world(`
roles:
  editor:
    permissions:
      writer:
        find: { where: { $or: [{ account: { id: $user.id } }, { name: $user.writer.name }] } }
        create: { set: { account: $user.id, name: $user.role.type } }
`)
  t.deepEqual(of.access.userPaths, [['id'], ['writer', 'name'], ['role', 'type']])
})

test('a condition may use attributes that its role cannot read', async t => {
  const of = await world(
    'roles: { editor: { permissions: { writer: { find: { where: { secret: open } } } } } }',
  )
  const view = grantsOf(of, 'editor').readAccess(typeOf(of.model, 'writer'), 'find')
  t.is(view?.where?.kind, 'fixed')
  t.false([...(view?.readable ?? [])].some(({ name }) => name === 'secret'))
})

test('create does not include createLocalization; "*" in a list means every action', async t => {
  const of = await world(
    'roles: { author: { permissions: { book: [create] } }, chief: { permissions: { book: ["*"] } } }',
  )
  t.is(may(of, 'author', 'book'), 'create publish')
  t.is(may(of, 'chief', 'book'), actionsOf(typeOf(of.model, 'book')).join(' '))
})

test('removing a permission removes the readDrafts that it implied', async t => {
  const of = await world(`
roles:
  reader: { permissions: { book: [find, findOne, update] } }
  none: { extends: reader, permissions: { book: { find: false, findOne: false, update: false } } }
  half: { extends: reader, permissions: { book: { find: false } } }
`)
  t.is(may(of, 'none', 'book'), '')
  t.is(may(of, 'half', 'book'), 'findOne update publish readDrafts')
})

test('a caller who may update only some documents publishes only those', async t => {
  const of = await world(`
roles: { author: { permissions: { book: { create: true, update: { where: { price: 3 }, fields: [title] } } } } }
`)
  const publishing = grantsOf(of, 'author').writeAccess(typeOf(of.model, 'book'), 'publish')
  t.is(publishing?.where?.kind, 'fixed')
  t.is(publishing?.fields, null)
})

test('a token has the public authentication actions without naming them, and no other', async t => {
  const of = await world(
    'apiTokens: { feed: { type: custom, secret: feed-feed-feed-feed-feed, permissions: { writer: [find] } } }',
  )
  t.true(grantsOf(of, 'feed').allows('auth', 'login'))
  t.false(grantsOf(of, 'feed').allows('auth', 'changePassword'))
  t.false(grantsOf(of, 'feed').allows('writer', 'findOne'))
})
