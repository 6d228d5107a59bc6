import { buildMongoQueryMatcher, createMongoAbility, subject as mark } from '@casl/ability'
import { unpackRules } from '@casl/ability/extra'
import { $and, $nor, $or, and, nor, or } from '@ucast/mongo2js'
import test from 'ava'
import { CallerAbility, packedRules, subject } from '../../core/access/ability/open-ability.ts'
import type { Caller } from '../../core/access/caller.ts'
import { toGrants, toRules } from '../../core/access/compile/to-rules.ts'
import { toPermissionTable } from '../../core/access/permission-entries.ts'
import type { Model } from '../../core/model/model.ts'
import { createTestApp, type TestApp } from '../../core/testing.ts'
import { snapshot } from '../harness/embedded-files.ts'

const PROJECT = {
  components: { 'shared.part': { attributes: { label: 'string', weight: 'integer' } } },
  contentTypes: {
    person: { draftAndPublish: false, attributes: { name: 'string', age: 'integer' } },
    label: { draftAndPublish: false, attributes: { text: 'string' } },
    article: {
      draftAndPublish: true,
      attributes: {
        title: 'string',
        body: 'text',
        level: { type: 'enumeration', enum: ['low', 'Mid', 'high'] },
        count: 'integer',
        big: 'biginteger',
        price: 'decimal',
        ratio: 'float',
        open: 'boolean',
        day: 'date',
        clock: 'time',
        moment: 'datetime',
        data: 'json',
        secret: { type: 'string', private: true },
        author: { type: 'relation', relation: 'manyToOne', target: 'person' },
        labels: { type: 'relation', relation: 'manyToMany', target: 'label' },
        part: { type: 'component', component: 'shared.part' },
        parts: { type: 'component', component: 'shared.part', repeatable: true },
      },
    },
  },
}

const POOLS = {
  title: ['', 'straße', 'STRASSE', 'Éclair', 'éclair', 'a%b_c', 'a\\b', 'ǅ', '  ', 'true'],
  body: ['Éclair au café', 'a%b', 'ÀÉ', '\u{1f600} smile', 'x'],
  level: ['low', 'Mid', 'high'],
  count: [-3, 0, 1, 12, 2147483647],
  big: ['-9223372036854775807', '9007199254740993', '9007199254740992', '12', '0'],
  price: [0, -1.5, 0.1, 12.25, 1000000],
  ratio: [0, 1.5, -2.25, 1e21, 3e-7],
  open: [true, false],
  day: ['2024-02-29', '1999-12-31', '0001-01-01'],
  clock: ['09:30:00', '09:30:00.500', '23:59:59.999'],
  moment: [
    '2024-05-01T10:00:00.000Z',
    '2024-05-01T12:00:00+02:00',
    '1969-12-31T23:59:59.999Z',
    '2024-05-01T10:00:00.001Z',
  ],
  data: [{ a: 1, b: [1, 2] }, { b: [1, 2], a: 1 }, [1, { c: null }], '"text"', 5, false, {}],
} as const satisfies Record<string, readonly unknown[]>

const NULLS = ['$null', '$notNull']
const EQUAL = ['$eq', '$ne', '$in', '$notIn', ...NULLS]
const ORDER = ['$lt', '$lte', '$gt', '$gte', '$between']
/** A condition that compares an enumeration with another word is refused. */
const WHOLE = ['$eqi', '$nei']
const FOLD = [...WHOLE, '$containsi', '$notContainsi', '$startsWithi', '$endsWithi']
const TEXT = [...EQUAL, ...FOLD, '$contains', '$notContains', '$startsWith', '$endsWith']
const NUMBER = [...EQUAL, ...ORDER]
const OPERATORS: Readonly<Record<keyof typeof POOLS, readonly string[]>> = {
  title: TEXT,
  body: TEXT,
  level: TEXT,
  count: [...NUMBER, ...FOLD],
  big: [...NUMBER, ...FOLD],
  price: NUMBER,
  ratio: NUMBER,
  open: [...EQUAL, ...ORDER, ...FOLD],
  day: [...NUMBER, ...FOLD],
  clock: NUMBER,
  moment: NUMBER,
  data: ['$eq', '$ne', ...NULLS],
}

let seed = 20_240_501

/** Deterministic, so that a failure can be repeated. */
function randomInt(below: number): number {
  seed = (Math.imul(seed, 1_664_525) + 1_013_904_223) >>> 0
  return Math.floor((seed / 2 ** 32) * below)
}

const pick = <Value>(values: readonly Value[]): Value => values[randomInt(values.length)] as Value
const some = <Value>(values: readonly Value[], most: number): Value[] =>
  Array.from({ length: randomInt(most + 1) }, () => pick(values))
const NAMES = Object.keys(POOLS) as (keyof typeof POOLS)[]

function comparison(operators: readonly string[], pool: readonly unknown[]): Record<string, unknown> {
  const operator = pick(operators)
  if (NULLS.includes(operator)) return { [operator]: pick([true, false]) }
  if (operator === '$between') return { $between: [pick(pool), pick(pool)] }
  if (operator === '$in' || operator === '$notIn') return { [operator]: [pick(pool), ...some(pool, 3)] }
  const value = pick(pool)
  const isPart = FOLD.includes(operator) && !(WHOLE.includes(operator) && pool === POOLS.level)
  return { [operator]: isPart ? String(value).slice(0, 1 + randomInt(6)) : value }
}

function related(): Record<string, unknown> {
  const name = comparison(TEXT, ['Ann', 'ANN', 'bob', ''])
  return pick<Record<string, unknown>>([
    { author: { id: { $eq: '$user.id' } } },
    { author: { id: comparison(NUMBER, [1, 2, 3]) } },
    { author: { name } },
    { author: { $or: [{ age: comparison(NUMBER, [1, 30, 40]) }, { name }] } },
    { labels: { text: comparison(TEXT, ['red', 'Red', 'blue']) } },
    { labels: { id: comparison(NULLS, []) } },
    { part: { weight: comparison(NUMBER, [1, 5]) } },
    { parts: { label: comparison(TEXT, ['one', 'TWO']), weight: comparison(NUMBER, [1, 5]) } },
  ])
}

function condition(depth: number): Record<string, unknown> {
  if (depth > 0 && randomInt(3) === 0)
    return pick([
      () => ({ $not: condition(depth - 1) }),
      () => ({ $and: [condition(depth - 1), condition(depth - 1)] }),
      () => ({ $or: [condition(depth - 1), condition(depth - 1)] }),
    ])()
  if (randomInt(4) === 0) return related()
  if (randomInt(8) === 0)
    return pick([
      { title: { $eq: '$user.username' } },
      { count: { $gte: '$user.id' } },
      { title: '$user.missing' },
    ])
  const name = pick(NAMES)
  return { [name]: comparison(OPERATORS[name], POOLS[name]) }
}

type Permissions = Parameters<typeof toPermissionTable>[0]

function callerOf(article: Record<string, unknown>, model: Model): Caller {
  const permissions = { article } as unknown as Permissions
  const grants = toGrants('role', () => toRules(toPermissionTable(permissions, []), model))
  return { kind: 'user', grants, user: { id: 2, documentId: 'u', username: 'straße' } }
}

/** As docs/permissions.md shows it for a front-end. */
const browserAbility = (packed: Parameters<typeof unpackRules>[0]) =>
  createMongoAbility(unpackRules(packed) as never, {
    conditionsMatcher: buildMongoQueryMatcher({ $and, $or, $nor }, { and, or, nor }),
  })

async function fill({ app }: TestApp): Promise<void> {
  const people = []
  for (const [name, age] of [
    ['Ann', 30],
    ['bob', 40],
    ['ÄNN', null],
  ] as const)
    people.push(await app.documents('person').create({ data: { name, age } }))
  const labels = []
  for (const text of ['red', 'Blue', null])
    labels.push(await app.documents('label').create({ data: { text } }))
  const part = () => ({ label: pick(['one', 'two', null]), weight: pick([1, 5, null]) })
  for (let at = 0; at < 90; at++) {
    const values = NAMES.map(name => [name, randomInt(5) === 0 ? null : pick<unknown>(POOLS[name])])
    await app.documents('article').create({
      data: {
        ...Object.fromEntries(values),
        author: pick([null, ...people.map(({ documentId }) => documentId)]),
        labels: some(labels, 2).map(({ documentId }) => documentId),
        part: pick([null, part()]),
        parts: Array.from({ length: randomInt(3) }, part),
      },
      status: at % 2 === 0 ? 'published' : 'draft',
    } as never)
  }
}

test('an ability decides on a document in memory as SQL decides on its row, for 15,000 random pairs', async t => {
  const served = await createTestApp({ project: PROJECT, snapshot: await snapshot() })
  t.teardown(() => served.close())
  const { app } = served
  await fill(served)
  const all = { populate: '*', sort: 'id' } as never
  const versions = {
    draft: await app.documents('article').findMany({ ...(all as object), status: 'draft' }),
    published: await app.documents('article').findMany({ ...(all as object), status: 'published' }),
  }
  let pairs = 0
  let shownPairs = 0
  for (let round = 0; round < 120; round++) {
    const where = condition(2)
    const drafts = pick<unknown>([true, { where: condition(1) }])
    const caller = callerOf({ find: { where }, readDrafts: drafts }, app.model)
    const ability = new CallerAbility(caller)
    const packed = JSON.parse(JSON.stringify(await packedRules(caller)))
    const inBrowser = browserAbility(packed)
    const isDecidable = !JSON.stringify(packed).includes('"documentId":{"$in":[]}')
    for (const status of ['draft', 'published'] as const) {
      const found = await app
        .documents('article')
        .as(caller)
        .findMany({ status, fields: ['documentId'] } as never)
      const visible = new Set(found.map(({ documentId }) => documentId))
      for (const document of versions[status]) {
        const inMemory = ability.can('find', subject('article', document))
        if (inMemory !== visible.has(document.documentId))
          return t.fail(JSON.stringify({ inMemory, status, where, drafts, document }))
        pairs += 1
        if (!isDecidable) continue
        const shown = inBrowser.can('find', mark('article', JSON.parse(JSON.stringify(document))))
        if (shown !== inMemory)
          return t.fail(JSON.stringify({ shown, status, where, drafts, packed, document }))
        shownPairs += 1
      }
    }
  }
  t.true(pairs > 10_000, String(pairs))
  t.true(shownPairs > 2_000, String(shownPairs))
})

test('a question that the document cannot answer is an error that names what is missing', async t => {
  const served = await createTestApp({ project: PROJECT, snapshot: await snapshot() })
  t.teardown(() => served.close())
  const { model } = served.app
  const ability = new CallerAbility(
    callerOf(
      {
        update: { where: { author: { id: '$user.id' }, title: { $ne: 'x' } }, fields: ['title', 'body'] },
        delete: { where: { title: { $lt: 'm' } } },
        create: { where: { title: { $containsi: 'İ' } } },
        find: true,
        publish: { where: { labels: { text: 'red' } } },
      },
      model,
    ),
  )
  const ask = (action: string, document: object, field?: string) =>
    ability.can(action, subject('article', { ...document }), field)
  const refused = (message: RegExp, run: () => unknown) => {
    const error = t.throws(run)
    t.is(error.name, 'AbilityError')
    t.regex(error.message, message)
  }
  refused(/`author`.*populate/, () => ask('update', { title: 'a' }))
  refused(/`author\.id`/, () => ask('update', { title: 'a', author: {} }))
  refused(/`author` of the document is no document/, () => ask('update', { title: 'a', author: 2 }))
  refused(/`labels` of the document is no document/, () => ask('publish', { labels: [1] }))
  refused(/`title` of the document is no string/, () =>
    ask('update', { title: { $ne: 'x' }, author: { id: 2 } }),
  )
  refused(/\$lt on `title`.*database/, () => ask('delete', { title: 'a' }))
  refused(/İ/, () => ask('create', { title: 'i' }))
  refused(/publishedAt/, () => ask('find', { title: 'a' }))
  refused(/unknown subject `artcle`: did you mean `article`/, () => ability.can('update', 'artcle'))
  refused(/unknown subject `Object`/, () => ability.can('update', { title: 'a' }))
  refused(/unknown action `updat`: did you mean `update`/, () => ability.cannot('updat', 'article'))
  t.false(ask('update', { author: { id: 3 } }), 'a false part decides, whatever is missing')
  t.true(ask('update', { title: 'a', author: { id: 2 } }, 'title'))
  t.false(ask('update', { title: 'a', author: { id: 2 } }, 'secret'))
  t.false(
    ask(
      'update',
      Object.create({ title: 'a', author: { id: 2 } }, { author: { value: null, enumerable: true } }),
    ),
  )
  t.true(ability.can('update', 'api::article.article', 'body'))
  t.deepEqual(ability.permittedFieldsOf('find', 'article').includes('secret'), false)
  t.false(ability.can('find', 'article', 'secret'), 'private attributes are never read')
  const own = subject('article', { title: 'a', author: { id: 2 } })
  t.true(['title', 'body'].every(name => ability.permittedFieldsOf('update', own).includes(name)))
  t.deepEqual(ability.permittedFieldsOf('update', subject('article', { title: 'a', author: null })), [])
  t.is(ability.rulesFor('update', 'article').length, 1)
  t.throws(() => ability.update([]))
  t.throws(() => Object.assign(ability, { can: () => true }))
  t.true(Object.isFrozen(ability) && Object.isFrozen(ability.rules) && Object.isFrozen(ability.rules[0]))
})

const ROUTED = {
  user: { attributes: { clearance: { type: 'string', private: true } } },
  contentTypes: {
    note: {
      draftAndPublish: false,
      attributes: { text: 'string', owner: 'string', hidden: { type: 'string', private: true } },
    },
  },
  roles: {
    editor: {
      name: 'Editor',
      permissions: {
        users: ['me'],
        note: {
          find: { fields: ['text'] },
          update: { where: { owner: '$user.username' } },
          delete: { where: { hidden: { $eq: 'a-fixed-secret' } } },
          create: { where: { owner: { $eq: '$user.clearance' } } },
        },
      },
    },
    blind: { name: 'Blind', permissions: { note: ['find'] } },
    other: { name: 'Other', permissions: { note: { update: { where: { text: 'of-another-role' } } } } },
  },
  apiTokens: { all: { type: 'full-access', secret: 'a-secret-of-forty-letters-that-is-random' } },
}

test('GET /users/me/permissions answers the packed rules of the caller alone, without private attributes', async t => {
  const served = await createTestApp({ project: ROUTED as never, snapshot: await snapshot() })
  t.teardown(() => served.close())
  const { app, request } = served
  const signIn = async (name: string, role: string) => {
    const [found] = await app
      .documents('plugin::users-permissions.role')
      .findMany({ filters: { type: role } } as never)
    const data = {
      username: name,
      email: `${name}@example.org`,
      password: 'a-long-password',
      confirmed: true,
      clearance: 'top-level',
    }
    await app
      .documents('plugin::users-permissions.user')
      .create({ data: { ...data, role: found?.documentId } } as never)
    const { body } = await request('POST', '/api/auth/local', {
      body: { identifier: name, password: 'a-long-password' },
    })
    return (body as { jwt: string }).jwt
  }
  const path = '/api/users/me/permissions'
  const token = await signIn('ann', 'editor')
  const answer = await request('GET', path, { token })
  t.is(answer.status, 200, JSON.stringify(answer.body))
  const text = JSON.stringify(answer.body)
  for (const secret of ['a-fixed-secret', 'top-level', 'of-another-role', 'hidden', '$user'])
    t.false(text.includes(secret), secret)
  const ability = browserAbility(answer.body as never)
  t.true(ability.can('update', mark('note', { owner: 'ann' })))
  t.false(ability.can('update', mark('note', { owner: 'bob' })))
  t.false(ability.can('delete', mark('note', { documentId: 'x', hidden: 'a-fixed-secret' })))
  t.true(ability.can('find', 'note', 'text'))
  t.false(ability.can('find', 'note', 'owner'))
  t.is((await request('GET', path, { token: await signIn('eve', 'blind') })).status, 403)
  t.is((await request('GET', path)).status, (await request('GET', '/api/users/me')).status)
  t.is((await request('GET', path, { token: ROUTED.apiTokens.all.secret })).status, 401)
  t.is((await request('GET', path, { token: 'wrong' })).status, 401)
  t.like(await request('POST', path, { token, body: {} }), { status: 405 })
})
