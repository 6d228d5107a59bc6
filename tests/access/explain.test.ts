import test from 'ava'
import type { Action } from '../../core/access/actions.ts'
import { isOnlyForUsers } from '../../core/access/denial.ts'
import { type Explanation, openExplainer, type PermissionHolder } from '../../core/access/explain/explain.ts'
import { type World, world } from './project.ts'

const ROLES = `
roles:
  public:
    permissions:
      vault: [find]
  reader:
    permissions: { "*": [find, findOne], users: [me] }
  author:
    extends: reader
    permissions:
      book:
        create: { set: { writer: 1 } }
        update: { where: { writer: { id: $user.id } }, fields: [title, secret, pin] }
      writer: { find: false, findOne: { fields: ["!salary"] } }
  drafter:
    extends: author
    permissions: { book: { readDrafts: true } }
  chief: { extends: [author], permissions: { "*": "*", auth: [changePassword] } }
apiTokens:
  all: { type: full-access, secret: all-all-all-all-all-all }
  feed: { type: custom, secret: feed-feed-feed-feed-feed, permissions: { writer: [find] } }
`

const role = (key: string): PermissionHolder => ({ kind: 'role', key })

function explain(of: World, holder: PermissionHolder, name: string, action: Action): Explanation {
  const explainer = openExplainer(of.project, of.model, of.access)
  const subject = explainer.subjects.find(each => each.name === name)
  if (!subject) throw new Error(`no ${name}`)
  return explainer.explain(holder, subject, action)
}

/** The line that an explanation speaks of, without what is around it. */
const lineOf = (of: World, { path }: Explanation): string => of.project.keyLocation(path).source.trim()

test('explanations agree with the checks of requests, for each role, token, type and action', async t => {
  const of = await world(ROLES)
  const { holders, subjects, explain } = openExplainer(of.project, of.model, of.access)
  t.is(holders.length, 8)
  for (const holder of holders) {
    const grants = (holder.kind === 'role' ? of.access.roles : of.access.tokens).get(holder.key)
    for (const subject of subjects) {
      for (const action of subject.actions) {
        const reported = explain(holder, subject, action)
        const title = `${holder.key} ${action} ${subject.name}`
        const userless = holder.kind === 'token' && isOnlyForUsers(subject.name, action)
        t.is(reported.allowed, !userless && grants?.allows(subject.name, action) === true, title)
        if (userless) continue
        if (!subject.type || !reported.readable) continue
        const view = grants?.readAccess(subject.type, action)
        t.deepEqual(
          new Set(reported.readable),
          new Set(Array.from(view?.readable ?? [], ({ name }) => name)),
          title,
        )
      }
    }
  }
})

test('an inherited permission is shown with the path to the role that declares it', async t => {
  const of = await world(ROLES)
  const reported = explain(of, role('drafter'), 'vault', 'find')
  t.deepEqual(reported.through, ['drafter', 'author', 'reader'])
  t.deepEqual(reported.why, { kind: 'declared', everyAction: false, everyType: true })
  t.is(lineOf(of, reported), 'permissions: { "*": [find, findOne], users: [me] }')
})

test('the line of an update explains the publishing that it includes', async t => {
  const of = await world(ROLES)
  const reported = explain(of, role('author'), 'book', 'publish')
  t.true(reported.allowed)
  t.deepEqual(reported.why, { kind: 'implied', by: 'update' })
  t.deepEqual(reported.options, { where: { writer: { id: '$user.id' } } })
  t.regex(lineOf(of, reported), /^update: /)
})

test('a role that declares readDrafts keeps the publish that an inherited update implies', async t => {
  const of = await world(ROLES)
  const reported = explain(of, role('drafter'), 'book', 'publish')
  t.true(reported.allowed)
  t.deepEqual(reported.why, { kind: 'implied', by: 'update' })
  t.deepEqual(reported.through, ['drafter', 'author'])
  t.regex(lineOf(of, reported), /^update: /)
})

test('a named type takes precedence over "*", and both lines are shown', async t => {
  const of = await world(ROLES)
  const reported = explain(of, role('chief'), 'writer', 'find')
  t.false(reported.allowed)
  t.deepEqual(reported.through, ['chief', 'author'])
  t.is(lineOf(of, reported), 'writer: { find: false, findOne: { fields: ["!salary"] } }')
  t.regex(of.project.keyLocation(reported.overridden ?? []).source, /chief/)
})

test('explanations list readable and writable attributes: private ones are write-only, server-set ones not writable', async t => {
  const of = await world(ROLES)
  const update = explain(of, role('author'), 'book', 'update')
  t.deepEqual(update.writable, ['title', 'secret', 'pin'])
  t.false(update.readable?.includes('secret'))
  const create = explain(of, role('author'), 'book', 'create')
  t.false(create.writable?.includes('writer'))
  t.true(create.writable?.includes('secret'))
  t.deepEqual(explain(of, role('author'), 'writer', 'findOne').readable, [
    ...['id', 'documentId', 'name', 'age', 'portrait', 'books', 'account'],
    ...['createdAt', 'updatedAt', 'publishedAt'],
  ])
  t.is(explain(of, role('author'), 'book', 'delete').writable, null)
})

test('undeclared, public and token-implied permissions are each explained as such', async t => {
  const of = await world(ROLES)
  t.deepEqual(explain(of, role('public'), 'book', 'find').why, { kind: 'undeclared' })
  t.deepEqual(explain(of, role('reader'), 'auth', 'login').why, { kind: 'open' })
  t.false(explain(of, role('reader'), 'auth', 'changePassword').allowed)
  t.true(explain(of, role('chief'), 'auth', 'changePassword').allowed)
  const token = explain(of, { kind: 'token', key: 'all' }, 'book', 'delete')
  t.deepEqual(token.why, { kind: 'token-type' })
  t.regex(lineOf(of, token), /^all: \{ type: full-access/)
  t.false(lineOf(of, token).includes('all-all'), 'the secret is not shown')
})

test('a token that may do everything has no user whose own data it could read', async t => {
  const of = await world(ROLES)
  for (const [subject, action] of [
    ['users', 'me'],
    ['auth', 'changePassword'],
  ] as const) {
    const reported = explain(of, { kind: 'token', key: 'all' }, subject, action)
    t.false(reported.allowed)
    t.deepEqual(reported.why, { kind: 'userless' })
    t.regex(lineOf(of, reported), /^all: \{ type: full-access/)
  }
  t.deepEqual(explain(of, { kind: 'token', key: 'all' }, 'users', 'me').readable, [])
  t.deepEqual(explain(of, { kind: 'token', key: 'feed' }, 'users', 'me').why, { kind: 'undeclared' })
})
