import test from 'ava'
import { faultsOf, TYPES } from './project.ts'

/** A role's permissions on one line, and all of their diagnostics. */
const reported = (permissions: string) => faultsOf(`roles: { editor: { permissions: ${permissions} } }`)

/** The text under the caret is cut to its first letters. */
const short = (faults: readonly string[]) => faults.map(fault => fault.replace(/( \| [^|]{1,8})[^|]*$/, '$1'))

const at = 'roles.editor.permissions'

const CASES: readonly (readonly [title: string, permissions: string, fault: string])[] = [
  [
    'an unknown subject',
    '{ boook: [find] }',
    `unknown-subject: unknown subject \`boook\`: did you mean \`book\`? | ${at}.boook | boook: [`,
  ],
  [
    'an unknown action of a content-type',
    '{ book: { fnd: true } }',
    `unknown-action: unknown action \`fnd\` of \`book\`: did you mean \`find\`? | ${at}.book.fnd | fnd: tru`,
  ],
  [
    'an action in the word of other systems',
    '{ book: { read: true } }',
    `unknown-action: unknown action \`read\` of \`book\`: did you mean \`find\`? | ${at}.book.read | read: tr`,
  ],
  [
    'an operator in the word of other systems, in a group',
    '{ book: { find: { where: { $and: [{ title: a }, { title: { $equals: b } }] } } } }',
    `bad-condition: Invalid key $equals at title: did you mean \`$eq\`? | ${at}.book.find.where.$and.1.title.$equals | $equals:`,
  ],
  [
    'an unknown action of a built-in subject',
    '{ upload: { uplaod: true } }',
    `unknown-action: unknown action \`uplaod\` of \`upload\`: did you mean \`upload\`? | ${at}.upload.uplaod | uplaod: `,
  ],
  [
    'an unknown action of every content-type',
    '{ "*": [finde] }',
    `unknown-action: unknown action \`finde\` of \`*\`: did you mean \`find\`? | ${at}.*.finde | finde] }`,
  ],
  [
    'a type in the place of every one',
    '{ "**": [find] }',
    `unknown-subject: unknown subject \`**\`: did you mean \`*\`? | ${at}.** | "**": [f`,
  ],
  [
    'what the server sets from a path that a user has not',
    '{ writer: { create: { set: { name: $user.nickame } } } }',
    `unknown-user-path: unknown \`nickame\` in \`$user.nickame\`: did you mean \`nickname\`? | ${at}.writer.create.set.name | $user.ni`,
  ],
  [
    'what the server sets where it writes nothing',
    '{ writer: { find: { set: { name: Ann } } } }',
    `misplaced-key: \`set\` means nothing for \`find\` of \`writer\` | ${at}.writer.find.set | set: { n`,
  ],
  [
    'a condition on the attribute of an unknown relation',
    '{ book: { update: { where: { wrter: { name: x } } } } }',
    `bad-condition: Invalid key wrter: did you mean \`writer\`? | ${at}.book.update.where.wrter | wrter: {`,
  ],
  [
    'drafts of a type without drafts',
    '{ writer: { publish: true } }',
    `action-not-applicable: \`publish\` means nothing for \`writer\`, which has no \`draftAndPublish\` | ${at}.writer.publish | publish:`,
  ],
  [
    'locales of a type without locales',
    '{ writer: { createLocalization: true } }',
    `action-not-applicable: \`createLocalization\` means nothing for \`writer\`, which has no \`localized\` | ${at}.writer.createLocalization | createLo`,
  ],
  [
    'an unknown field',
    '{ writer: { find: { fields: [nam] } } }',
    `unknown-field: unknown field \`nam\` of \`writer\`: did you mean \`name\`? | ${at}.writer.find.fields.0 | nam] } }`,
  ],
  [
    'an unknown field that is left out',
    '{ writer: { find: { fields: ["!sallary"] } } }',
    `unknown-field: unknown field \`sallary\` of \`writer\`: did you mean \`salary\`? | ${at}.writer.find.fields.0 | "!sallar`,
  ],
  [
    'a private field to be shown',
    '{ writer: { find: { fields: [name, secret] }, update: { fields: [secret, pin] } } }',
    `misplaced-key: \`secret\` of \`writer\` is \`private\`: no permission can show it | ${at}.writer.find.fields.1 | secret] `,
  ],
  [
    'a password to be shown',
    '{ writer: { findOne: { fields: [name, pin] }, find: { fields: ["!pin"] } } }',
    `misplaced-key: \`pin\` of \`writer\` is a password: no permission can show it | ${at}.writer.findOne.fields.1 | pin] }, `,
  ],
  [
    'an unknown field to be set',
    '{ writer: { create: { set: { nme: Ann } } } }',
    `unknown-field: \`writer\` has no field \`nme\` to be set: did you mean \`name\`? | ${at}.writer.create.set.nme | nme: Ann`,
  ],
  [
    'a system field to be set',
    '{ writer: { create: { set: { documentId: x } } } }',
    `unknown-field: \`writer\` has no field \`documentId\` to be set: one of \`name\`, \`age\`, \`salary\`, \`secret\`, \`pin\`, \`portrait\`, \`books\`, \`account\` | ${at}.writer.create.set.documentId | document`,
  ],
  [
    'an attribute to be set that no caller may write',
    '{ users: { create: { set: { sessionVersion: 1 } } } }',
    `misplaced-key: \`sessionVersion\` of \`users\` is \`writable: false\`: no permission can set it | ${at}.users.create.set.sessionVersion | sessionV`,
  ],
  [
    'fields of an action that has none',
    '{ writer: { delete: { fields: [name] } } }',
    `misplaced-key: \`fields\` means nothing for \`delete\` of \`writer\` | ${at}.writer.delete.fields | fields: `,
  ],
  [
    'a condition on what has no documents',
    '{ auth: { login: { where: { id: 1 } } } }',
    `misplaced-key: \`where\` means nothing for \`login\` of \`auth\` | ${at}.auth.login.where | where: {`,
  ],
  [
    'a condition on every content-type',
    '{ "*": { find: { where: { id: 1 } } } }',
    `misplaced-key: \`where\` needs one content-type: name it instead of \`"*"\` | ${at}.*.find.where | where: {`,
  ],
  [
    'an unknown key in a condition',
    '{ book: { find: { where: { writer: { nam: x } } } } }',
    `bad-condition: Invalid key nam at writer: did you mean \`name\`? | ${at}.book.find.where.writer.nam | nam: x }`,
  ],
  [
    'an unknown operator in a condition',
    '{ book: { find: { where: { title: { $contain: x } } } } }',
    `bad-condition: Invalid key $contain at title: did you mean \`$contains\`? | ${at}.book.find.where.title.$contain | $contain`,
  ],
  [
    'a path that a user has not',
    '{ writer: { find: { where: { name: $user.nickame } } } }',
    `unknown-user-path: unknown \`nickame\` in \`$user.nickame\`: did you mean \`nickname\`? | ${at}.writer.find.where.name | $user.ni`,
  ],
  [
    'a path beyond a value of the user',
    '{ writer: { find: { where: { name: $user.nickname.length } } } }',
    `unknown-user-path: unknown \`length\` in \`$user.nickname.length\` | ${at}.writer.find.where.name | $user.ni`,
  ],
  [
    'the user as a whole',
    '{ writer: { find: { where: { account: $user } } } }',
    `unknown-user-path: \`$user\` is not one value: name an attribute of it, such as \`$user.id\` | ${at}.writer.find.where.account | $user } `,
  ],
  [
    'the password of the user',
    '{ writer: { find: { where: { name: $user.password } } } }',
    `unknown-user-path: unknown \`password\` in \`$user.password\` | ${at}.writer.find.where.name | $user.pa`,
  ],
  [
    'many values of the user',
    '{ writer: { find: { where: { name: $user.role.users.username } } } }',
    `unknown-user-path: \`$user.role.users\` is not one value | ${at}.writer.find.where.name | $user.ro`,
  ],
]

for (const [title, permissions, fault] of CASES) {
  test(`${title} is an error at load, with its position`, async t => {
    t.deepEqual(short(await reported(permissions)), [fault])
  })
}

const SHOP = TYPES.replace(
  '      price: integer\n',
  '      price: integer\n      kind: { type: enumeration, enum: [novel, poems] }\n      sold: boolean\n      printed: date\n',
)

const reportedOf = (where: string) =>
  faultsOf(`roles: { editor: { permissions: { book: { find: { where: ${where} } } } } }`, SHOP)

const UNFIT: readonly (readonly [where: string, message: string, place: string])[] = [
  ['{ kind: poem }', '`poem` is not a value of `kind`: did you mean `poems`?', 'kind'],
  [
    '{ kind: { $in: [novel, atlas] } }',
    '`atlas` is not a value of `kind`: one of `novel`, `poems`',
    'kind.$in.1',
  ],
  [
    '{ writer: { books: { kind: { $not: { $eqi: novl } } } } }',
    '`novl` is not a value of `kind`: did you mean `novel`?',
    'writer.books.kind.$not.$eqi',
  ],
  ['{ sold: maybe }', 'Invalid value for $eq of sold: expected true or false', 'sold'],
  ['{ title: { $null: never } }', 'Invalid value for $null of title: expected true or false', 'title.$null'],
  ['{ price: cheap }', 'Invalid value for $eq of price: expected an integer', 'price'],
  [
    '{ $or: [{ title: a }, { price: { $gt: 1.5 } }] }',
    'Invalid value for $gt of price: expected an integer',
    '$or.1.price.$gt',
  ],
  [
    '{ printed: { $lt: 2024-02-30 } }',
    'Invalid value for $lt of printed: expected a date (YYYY-MM-DD)',
    'printed.$lt',
  ],
  ['{ writer: Ann }', 'Invalid value for $eq of id: expected an integer', 'writer'],
]

for (const [where, message, place] of UNFIT) {
  test(`a permission cannot ask for ${where}`, async t => {
    const faults = await reportedOf(where)
    t.deepEqual(
      faults.map(fault => fault.split(' | ').slice(0, 2)),
      [[`bad-condition: ${message}`, `${at}.book.find.where.${place}`]],
    )
  })
}

test('conditions may ask for what their attributes can have', async t => {
  for (const where of [
    '{ kind: novel, sold: true, price: "5", title: 5, printed: { $gte: 2024-02-29 } }',
    '{ kind: { $contains: nov, $ne: null, $eqi: POEMS }, title: { $null: "false" }, writer: $user.id }',
    '{ kind: $user.nickname, $not: [{ sold: { $in: [true, 0] } }], writer: { $eq: 1 } }',
  ])
    t.deepEqual(await reportedOf(where), [])
})

test('a value of the user of another type is reported at its attribute', async t => {
  const faults = await reported(
    '{ writer: { find: { where: { name: { $eq: Ann }, age: $user.nickname } } } }',
  )
  t.deepEqual(
    faults.map(fault => fault.split(' | ')[1]),
    [`${at}.writer.find.where.age`],
  )
})

test('comparing an attribute with a value of the user of another type is an error at load', async t => {
  const faults = await reported('{ writer: { find: { where: { age: $user.nickname } } } }')
  t.is(faults.length, 1)
  t.regex(faults[0] ?? '', /^bad-condition: .*age.*integer/)
  t.deepEqual(await reported('{ writer: { find: { where: { age: $user.id } } } }'), [])
})

test('every fault of roles and tokens is reported', async t => {
  const faults = await faultsOf(`
roles: { editor: { permissions: { buk: [find], writer: { fnd: true } } } }
apiTokens: { feed: { type: custom, secret: feed-feed-feed-feed-feed, permissions: { wryter: [find] } } }
`)
  t.deepEqual(
    faults.map(fault => fault.split(' | ')[1]),
    [
      'roles.editor.permissions.buk',
      'roles.editor.permissions.writer.fnd',
      'apiTokens.feed.permissions.wryter',
    ],
  )
})

test('the conditions of a token are checked like those of a role', async t => {
  const faults = await faultsOf(`
apiTokens:
  feed:
    type: custom
    secret: feed-feed-feed-feed-feed
    permissions: { writer: { find: { fields: [nam] }, fnd: true, findOne: { where: { nam: x } } } }
`)
  t.deepEqual(
    faults.map(fault => fault.split(':')[0]),
    ['unknown-field', 'unknown-action', 'bad-condition'],
  )
})

const parents = (own: string) => `
roles:
  one: { permissions: { writer: { find: { fields: [name] } }, book: [find] } }
  two: { permissions: { writer: [find], book: [find, findOne] } }
  both: { extends: [one, two], permissions: ${own} }
`

test('two parents that differ on one action are an error that names both', async t => {
  t.deepEqual(short(await faultsOf(parents('{}'))), [
    'conflicting-parents: `one` and `two` differ on `find` of `writer`: say it in `both` | roles.both.extends | [one, tw',
  ])
})

test('parents may differ on an action that the role declares itself', async t => {
  t.deepEqual(await faultsOf(parents('{ writer: [find] }')), [])
})

test('a parent that names a type conflicts with one that grants the action for "*"', async t => {
  const roles = (own: string) => `
roles:
  wide: { permissions: { "*": [find] } }
  narrow: { permissions: { book: { find: { where: { title: x } } }, writer: [find], users: [find] } }
  both: { extends: [wide, narrow], permissions: ${own} }
`
  t.deepEqual(short(await faultsOf(roles('{}'))), [
    'conflicting-parents: `wide` and `narrow` differ on `find` of `book`: say it in `both` | roles.both.extends | [wide, n',
  ])
  t.is((await faultsOf(roles('{ "*": [find] }'))).length, 1, 'which a named type would beat')
  t.deepEqual(await faultsOf(roles('{ book: [find] }')), [])
})

test('parents that inherit one permission from the same grandparent, or declare equal ones, do not conflict', async t => {
  t.deepEqual(
    await faultsOf(`
roles:
  base: { permissions: { "*": [find], book: { find: { where: { title: x } } } } }
  one: { extends: base, permissions: { writer: { update: { fields: [name] } } } }
  two: { extends: base, permissions: { writer: { update: { fields: [name] } } } }
  both: { extends: [one, two] }
`),
    [],
  )
})
