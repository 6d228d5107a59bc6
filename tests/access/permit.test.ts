import test from 'ava'
import type { Caller } from '../../core/access/caller.ts'
import type { Command, CreateCommand, GivenValues } from '../../core/query/command.ts'
import { permit } from '../harness/attempts.ts'
import { typeOf, type World, world } from './project.ts'

const callerOf = (of: World, role: string, user: Caller['user'] = null): Caller => {
  const grants = of.access.roles.get(role)
  if (!grants) throw new Error(`no role ${role}`)
  return { kind: user ? 'user' : 'public', grants, user }
}

const create = (of: World, key: string, values: GivenValues, status: 'draft' | 'published' = 'published') =>
  ({
    kind: 'create',
    type: typeOf(of.model, key),
    locale: key === 'book' ? 'en' : null,
    status,
    values,
  }) satisfies CreateCommand

/** The values that are written, or why nothing is. */
function outcome(command: Command, caller: Caller): unknown {
  const permitted = permit(command, caller)
  if (!permitted.ok) return permitted.reasons[0]?.message
  return 'values' in permitted.value ? permitted.value.values : permitted.value.kind
}

test('writing requires its own permission', async t => {
  const of = await world('roles: { guest: { permissions: { vault: [find, create] } } }')
  const guest = callerOf(of, 'guest')
  const type = typeOf(of.model, 'vault')
  const common = { type, locale: null, documentId: 'x', precondition: null }
  t.deepEqual(outcome(create(of, 'vault', { code: 'a' }), guest), { code: 'a' })
  t.is(outcome({ ...common, kind: 'update', status: 'published', values: {} }, guest), 'Forbidden')
  t.is(outcome({ ...common, kind: 'delete' }, guest), 'Forbidden')
})

test('a caller who may not publish writes only drafts', async t => {
  const of = await world(
    'roles: { drafter: { permissions: { book: { create: true, publish: false } } }, author: { permissions: { book: [create] } } }',
  )
  t.is(outcome(create(of, 'book', {}), callerOf(of, 'drafter')), 'Forbidden')
  t.deepEqual(outcome(create(of, 'book', {}, 'draft'), callerOf(of, 'drafter')), {})
  t.deepEqual(outcome(create(of, 'book', {}), callerOf(of, 'author')), {})
  const draft = { type: typeOf(of.model, 'book'), locale: null, documentId: 'x' }
  for (const kind of ['publish', 'unpublish', 'discardDraft'] as const) {
    t.is(outcome({ kind, ...draft }, callerOf(of, 'drafter')), 'Forbidden')
    t.is(outcome({ kind, ...draft, type: typeOf(of.model, 'vault') }, callerOf(of, 'author')), 'Forbidden')
  }
})

test('attributes outside of the permission are refused; permitted private ones may be written', async t => {
  const of = await world(
    'roles: { clerk: { permissions: { writer: { create: { fields: [name, secret] } } } }, boss: { permissions: { writer: { create: { fields: ["!salary"] } } } } }',
  )
  const clerk = callerOf(of, 'clerk')
  t.deepEqual(outcome(create(of, 'writer', { name: 'a', secret: 's' }), clerk), { name: 'a', secret: 's' })
  const refused = permit(create(of, 'writer', { salary: 1 }), clerk)
  t.deepEqual(refused.ok ? null : refused.reasons[0]?.details, {
    key: 'salary',
    path: 'salary',
    source: 'body',
  })
  t.is(outcome(create(of, 'writer', { salary: 1 }), callerOf(of, 'boss')), 'Invalid key salary')
})

test('values set by the server override the body', async t => {
  const of = await world(
    'roles: { member: { permissions: { writer: { create: { fields: [name], set: { salary: 100, account: $user.id } } } } } }',
  )
  const member = callerOf(of, 'member', { id: 7 })
  t.deepEqual(outcome(create(of, 'writer', { name: 'a', salary: 9, account: 1 }), member), {
    name: 'a',
    salary: 100,
    account: 7,
  })
  t.is(outcome(create(of, 'writer', { name: 'a' }), callerOf(of, 'member')), 'Forbidden')
})

test('relations to types that the caller may not find are refused, also when cleared or in components', async t => {
  const of = await world('roles: { clerk: { permissions: { book: [create], writer: [create] } } }')
  const clerk = callerOf(of, 'clerk')
  t.is(outcome(create(of, 'book', { title: 'x', writer: null }), clerk), 'Invalid key writer')
  t.is(outcome(create(of, 'book', { sequel: 'a' }), clerk), 'Invalid key sequel')
  t.is(outcome(create(of, 'book', { box: { writer: 'a' } }), clerk), 'Invalid key writer at box.writer')
  t.is(
    outcome(create(of, 'book', { shelf: { box: { writer: null } } }), clerk),
    'Invalid key writer at shelf.box.writer',
  )
  t.is(
    outcome(create(of, 'book', { parts: [{ __component: 'shared.box', writer: 'a' }] }), clerk),
    'Invalid key writer at parts.writer',
  )
  t.deepEqual(
    outcome(create(of, 'writer', { portrait: 3 }), clerk),
    { portrait: 3 },
    'files are shown to all',
  )
})

test('conditions apply to the row before and after a write; publishing adds its own', async t => {
  const of = await world(`
roles:
  editor:
    permissions:
      book:
        find: { where: { price: { $lt: 3 } } }
        create: true
        update: { where: { price: { $lt: 5 } } }
        publish: { where: { title: ready } }
        delete: { where: { price: 1 } }
`)
  const editor = callerOf(of, 'editor')
  const type = typeOf(of.model, 'book')
  const common = { type, locale: 'en', documentId: 'x', precondition: null }
  const conditions = (command: Command) => {
    const permitted = permit(command, editor)
    if (!permitted.ok) return permitted.reasons[0]?.message
    const { before, after, targets } = permitted.value.conditions
    return [before?.kind ?? null, after?.kind ?? null, [...targets.keys()].map(({ key }) => key)]
  }
  const update = { ...common, kind: 'update', values: {} } as const
  t.deepEqual(conditions({ ...update, status: 'draft' }), ['comparison', 'comparison', []])
  t.deepEqual(conditions({ ...update, status: 'published' }), ['and', 'and', []])
  t.deepEqual(conditions({ ...common, kind: 'delete' }), ['comparison', null, []])
  t.deepEqual(conditions({ ...common, kind: 'publish' }), ['comparison', null, []])
  t.deepEqual(conditions({ ...common, kind: 'unpublish' }), ['comparison', null, []])
  t.deepEqual(conditions({ ...common, kind: 'discardDraft' }), ['comparison', 'comparison', []])
  t.deepEqual(conditions(create(of, 'book', { sequel: 'a' })), [null, 'comparison', ['book']])
})

test('the condition of a linked type is bound once, however many components of the body link to it', async t => {
  const of = await world(
    'roles: { shelver: { permissions: { book: [create, publish], writer: { find: { where: { account: { id: $user.id } } } } } } }',
  )
  const readsFor = (count: number): number => {
    let reads = 0
    const user = {
      get id() {
        reads += 1
        return 7
      },
    }
    const parts = Array.from({ length: count }, () => ({ __component: 'shared.box', writer: 'x' }))
    t.deepEqual(outcome(create(of, 'book', { parts }), callerOf(of, 'shelver', user)), { parts })
    return reads
  }
  t.is(readsFor(200), readsFor(1))
})
