import test from 'ava'
import { compileAccess } from '../../core/access/compile/compile-access.ts'
import { load, TYPES } from './project.ts'

/** Positions where a permission may name an attribute; `$user.…` of one of the user's. */
const RULES: readonly (readonly [place: string, type: string, field: string, permission: string])[] = [
  ...['name', 'age', 'salary', 'secret', 'pin'].flatMap(field => [
    ['fields', 'writer', field, `update: { fields: [${field}] }`] as const,
    ['all but', 'writer', field, `update: { fields: ["!${field}"] }`] as const,
    ['where', 'writer', field, `delete: { where: { ${field}: { $notNull: true } } }`] as const,
    [
      'where inside $or and $not',
      'writer',
      field,
      `find: { where: { $or: [{ $not: { ${field}: { $null: true } } }] } }`,
    ] as const,
    ['set', 'writer', field, `create: { set: { ${field}: null } }`] as const,
    [
      'where over a relation',
      'book',
      field,
      `find: { where: { writer: { ${field}: { $null: false } } } }`,
    ] as const,
    [
      'where over a relation and back',
      'book',
      field,
      `find: { where: { writer: { books: { writer: { ${field}: { $null: false } } } } } }`,
    ] as const,
  ]),
  ['$user in where', 'writer', 'nickname', 'find: { where: { name: $user.nickname } }'],
  ['$user in set', 'writer', 'nickname', 'create: { set: { name: $user.nickname } }'],
]

/** The project's types without an attribute of a type, or with it under its name. */
const without = (field: string): string =>
  field === 'nickname'
    ? TYPES.replace('nickname: string, ', '')
    : TYPES.replace(
        /( {2}writer:\n {4}attributes:\n)([\s\S]*?)( {2}book:)/,
        (_, head: string, body: string, tail: string) =>
          head + body.replace(new RegExp(`^ {6}${field}: .*\\n`, 'm'), '') + tail,
      )

async function faults(types: string, type: string, permission: string): Promise<readonly string[]> {
  const roles = `roles: { editor: { permissions: { ${type}: { ${permission} } } } }\n`
  const { project, model } = await load(types + roles)
  const compiled = compileAccess(project, model)
  return compiled.ok ? [] : compiled.reasons.map(({ code }) => code)
}

test('a permission that names a removed attribute prevents the start, so that a new attribute of that name is not exposed', async t => {
  for (const [place, type, field, permission] of RULES) {
    const title = `${field} in ${place} of ${type}`
    t.not(without(field), TYPES, title)
    t.deepEqual(await faults(TYPES, type, permission), [], title)
    t.is((await faults(without(field), type, permission)).length, 1, title)
  }
})
