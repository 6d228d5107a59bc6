import test from 'ava'
import { compileApp } from '../../core/app/compile-app.ts'
import { temporaryFolder } from '../harness/folder.ts'

// Safety rule S10: a rule speaks of the attributes that there are. One that went takes its rules with it, so that
// nothing waits for another of its name; one that was renamed is no longer called what it was.
const permissions = (text: string, attributes: string): string => `
name: Rules
contentTypes:
  writer: { attributes: { name: string } }
  book: { draftAndPublish: true, attributes: { title: string, ${attributes} } }
roles: { public: { permissions: { book: ${text} } } }
`

/** Every position in which a rule may name an attribute, which replaces `*`. */
const PLACES: Readonly<Record<string, readonly string[]>> = {
  'price: integer': [
    ...[
      'find: { fields: [title, *] }',
      'find: { fields: ["!*"] }',
      'findOne: { fields: [*] }',
      'create: { fields: [*] }',
    ],
    ...[
      'update: { fields: ["!*"] }',
      'create: { set: { *: 1 } }',
      'update: { set: { *: 1 } }',
      'find: { where: { *: 1 } }',
    ],
    ...[
      'find: { where: { $or: [{ title: a }, { $not: { *: { $gt: 1 } } }] } }',
      'create: { where: { *: { $in: [1, 2] } } }',
    ],
    ...['update: { where: { *: 1 } }', 'delete: { where: { *: 1 } }', 'publish: { where: { *: 1 } }'],
    ...['find: true, readDrafts: { where: { *: 1 } }', 'find: { where: { *: $user.id } }'],
  ],
  'price: { type: relation, relation: manyToOne, target: writer }': [
    ...[
      'find: { fields: ["!*"] }',
      'find: { where: { *: { name: a } } }',
      'find: { where: { *: { id: $user.id } } }',
    ],
    ...['create: { set: { *: $user.id } }', 'update: { where: { *: 1 } }'],
  ],
}

async function faultsOf(yaml: string): Promise<readonly string[]> {
  const folder = temporaryFolder()
  folder.write('project.yaml', yaml)
  const compiled = await compileApp(folder.path, {})
  folder.remove()
  return compiled.ok ? [] : compiled.reasons.map(({ message }) => message)
}

for (const [attribute, places] of Object.entries(PLACES)) {
  test(`a condition that names a removed or renamed attribute is refused (${attribute})`, async t => {
    for (const place of places) {
      const rule = `{ ${place.replaceAll('*', 'price')} }`
      t.deepEqual(await faultsOf(permissions(rule, attribute)), [], rule)
      const [gone, renamed] = [
        await faultsOf(permissions(rule, 'other: integer')),
        await faultsOf(permissions(rule, `cost: { type: integer, renamedFrom: price }`)),
      ]
      for (const faults of [gone, renamed]) {
        t.is(faults.length, 1, `${rule} ${faults.join()}`)
        t.regex(faults[0] ?? '', /price/)
      }
    }
  })
}

test('a condition on an unknown type, action or role is refused', async t => {
  for (const rule of [
    '{ finds: true }',
    '{ find: true, createLocalization: true }',
    '{ me: true }',
    '{ constructor: true }',
  ])
    t.is((await faultsOf(permissions(rule, 'price: integer'))).length, 1, rule)
  for (const roles of [
    '{ public: { permissions: { books: [find] } } }',
    '{ public: { extends: editors } }',
    '{ public: { permissions: { "api::book.book": [find] } } }',
  ])
    t.is(
      (await faultsOf(permissions('[find]', 'price: integer').replace(/^roles: .*$/m, `roles: ${roles}`)))
        .length,
      1,
      roles,
    )
})
