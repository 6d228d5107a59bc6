import test, { type ExecutionContext } from 'ava'
import { createTestApp, type TestApp } from '../../core/testing.ts'
import { snapshot } from '../harness/embedded-files.ts'
import { temporaryFolder } from '../harness/folder.ts'
import { openTestApp } from '../harness/test-app.ts'

// Sequelize models of a project and transactions over documents and models.

const relation = (kind: string, target: string, more: object = {}) => ({
  type: 'relation',
  relation: kind,
  target,
  ...more,
})

const SHOP = {
  i18n: { locales: ['en', 'fr'], defaultLocale: 'en' },
  components: {
    'part.link': { attributes: { label: 'string', product: relation('manyToOne', 'product') } },
    'part.seo': {
      attributes: { title: 'string', links: { type: 'component', component: 'part.link', repeatable: true } },
    },
  },
  contentTypes: {
    product: {
      draftAndPublish: true,
      localized: true,
      attributes: {
        title: { type: 'string', localized: true },
        price: 'decimal',
        tags: relation('manyToMany', 'tag', { inversedBy: 'products' }),
        maker: relation('manyToOne', 'maker', { inversedBy: 'products' }),
        related: relation('oneToMany', 'product'),
        seo: { type: 'component', component: 'part.seo' },
        body: { type: 'dynamiczone', components: ['part.link', 'part.seo'] },
        cover: 'media',
      },
    },
    tag: {
      attributes: {
        name: { type: 'string', unique: true },
        products: relation('manyToMany', 'product', { mappedBy: 'tags' }),
      },
    },
    maker: {
      attributes: {
        name: 'string',
        products: relation('oneToMany', 'product', { mappedBy: 'maker' }),
        boss: relation('oneToOne', 'maker', { inversedBy: 'deputy' }),
        deputy: relation('oneToOne', 'maker', { mappedBy: 'boss' }),
      },
    },
    line: { attributes: { category: 'string', amount: 'integer', sold: 'datetime' } },
  },
  roles: { public: { permissions: { '*': ['find', 'findOne', 'create', 'update', 'delete'] } } },
}

async function open(t: ExecutionContext, project: string | object = SHOP): Promise<TestApp> {
  return openTestApp(t, { project: project as Readonly<Record<string, unknown>> })
}

const modelOf = ({ app: { models } }: TestApp, name: string) => {
  const model = models[name]
  if (!model) throw new Error(`no model ${name}`)
  return model
}

/** The rows of a table, in plain objects. */
const plain = (rows: readonly { get(options: { plain: true }): unknown }[]) =>
  rows.map(row => row.get({ plain: true }))

test('a report groups 10,000 rows inside the transaction of a document write', async t => {
  const server = await open(t)
  const { app } = server
  const line = modelOf(server, 'line')
  const rows = Array.from({ length: 10_000 }, (_, at) => ({ category: `c${at % 4}`, amount: at % 10 }))
  await app.transaction(async () => void (await line.bulkCreate(rows)))
  const { fn, col } = app.sequelize.constructor as unknown as {
    fn(name: string, ...args: unknown[]): [unknown, string] | string
    col(name: string): unknown
  }
  const report = await app.transaction(async transaction => {
    await app.documents('api::line.line').create({ data: { category: 'c1', amount: 1000 } })
    return line.findAll({
      attributes: ['category', [fn('sum', col('amount')) as string, 'total']],
      group: ['category'],
      order: ['category'],
      raw: true,
      transaction,
    })
  })
  t.deepEqual(report as unknown, [
    { category: 'c0', total: '10000' },
    { category: 'c1', total: '13500' },
    { category: 'c2', total: '10000' },
    { category: 'c3', total: '12500' },
  ])
})

test('an error rolls back documents and models, and both are visible to each other before', async t => {
  const server = await open(t)
  const { app } = server
  const tags = app.documents('api::tag.tag')
  const model = modelOf(server, 'tag')
  const work = app.transaction(async transaction => {
    await tags.create({ data: { name: 'by document' } })
    await model.create({ name: 'by model' }, { transaction })
    // Without the option, too.
    await model.create({ name: 'joined' })
    t.is(await model.count(), 3)
    t.is((await tags.findMany({})).length, 3)
    throw new Error('undone')
  })
  await t.throwsAsync(work, { message: 'undone' })
  t.is(await model.count(), 0)
  t.is((await tags.findMany({})).length, 0)
})

test('a nested transaction is a savepoint', async t => {
  const server = await open(t)
  const { app } = server
  const model = modelOf(server, 'tag')
  await app.transaction(async () => {
    await model.create({ name: 'kept' })
    await t.throwsAsync(
      app.transaction(async () => {
        await model.create({ name: 'undone' })
        await app.documents('api::tag.tag').create({ data: { name: 'undone, too' } })
        throw new Error('inner')
      }),
      { message: 'inner' },
    )
    await app.transaction(async () => void (await model.create({ name: 'inner' })))
  })
  t.deepEqual(
    (await model.findAll({ order: ['name'] })).map(row => row.get('name')),
    ['inner', 'kept'],
  )
})

test('after a failed statement whose error is caught, the next one says so instead of 503', async t => {
  const { app } = await open(t)
  const work = app.transaction(async () => {
    await app.sequelize.query('SELECT 1 / 0').catch(() => undefined)
    await app.documents('api::tag.tag').create({ data: { name: 'lost' } })
  })
  await t.throwsAsync(work, { message: /^An earlier statement of this transaction failed/ })
})

test('a write through a model is seen by the response cache', async t => {
  const server = await open(t)
  const model = modelOf(server, 'tag')
  const names = async () => {
    const { body } = await server.request('GET', '/api/tags?sort=name')
    return (body as { readonly data: readonly { readonly name: string }[] }).data.map(({ name }) => name)
  }
  const tag = await model.create({ name: 'first' })
  t.deepEqual([await names(), await names()], [['first'], ['first']])
  await tag.update({ name: 'renamed' })
  t.deepEqual(await names(), ['renamed'])
  await server.app.transaction(async () => void (await model.create({ name: 'second' })))
  t.deepEqual(await names(), ['renamed', 'second'])
  await tag.destroy()
  t.deepEqual(await names(), ['second'])
})

test('a violated constraint is an error of Sequelize, after which the transaction can be rolled back and the pool is whole', async t => {
  const server = await open(t)
  const model = modelOf(server, 'tag')
  await model.create({ name: 'one' })
  for (let round = 0; round < 20; round++) {
    const twice = server.app.transaction(async () => {
      await model.create({ name: `fresh ${round}` })
      await server.app.sequelize.query('INSERT INTO tags (document_id) VALUES (NULL)')
    })
    await t.throwsAsync(twice, { name: 'SequelizeDatabaseError' })
  }
  t.is(await model.count(), 1)
  t.is((await server.request('GET', '/api/tags')).status, 200)
})

test('associations read every kind of relation, components and zones', async t => {
  const server = await open(t)
  const { app } = server
  const create = async (type: string, data: object, more: object = {}) =>
    (await app.documents(type).create({ data, ...more } as never)) as unknown as { documentId: string }
  const tag = await create('api::tag.tag', { name: 'red' })
  const boss = await create('api::maker.maker', { name: 'boss' })
  const maker = await create('api::maker.maker', { name: 'ann', boss: boss.documentId })
  const other = await create('api::product.product', { title: 'other' }, { status: 'published' })
  const product = await create(
    'api::product.product',
    {
      title: 'pot',
      price: 12.5,
      tags: [tag.documentId],
      maker: maker.documentId,
      related: [other.documentId],
      seo: { title: 'a pot', links: [{ label: 'one', product: other.documentId }, { label: 'two' }] },
      body: [{ __component: 'part.link', label: 'in the zone' }],
    },
    { status: 'published' },
  )
  // An association leads to all versions of a document or component.
  const version = { where: { status: 'published', locale: 'en' }, required: false }
  const found = await modelOf(server, 'product')
    .scope(['published', { method: ['locale', 'en'] }])
    .findAll({
      where: { documentId: product.documentId },
      include: [
        'tags',
        'maker',
        { association: 'related', ...version },
        {
          association: 'seo',
          ...version,
          include: [{ association: 'links', ...version, include: [{ association: 'product', ...version }] }],
        },
        { association: 'bodyPartLink', ...version },
      ],
    })
  const [row] = plain(found) as readonly Record<string, unknown>[]
  t.is(found.length, 1)
  t.like(row, { title: 'pot', price: '12.50', status: 'published', locale: 'en' })
  const names = (value: unknown, key: string) => (value as Record<string, unknown>[]).map(each => each[key])
  t.deepEqual(names(row?.tags, 'name'), ['red'])
  t.like(row?.maker, { name: 'ann' })
  t.true(names(row?.related, 'title').includes('other'))
  const seo = row?.seo as Record<string, unknown>
  t.is(seo.title, 'a pot')
  t.deepEqual(names(seo.links, 'label').toSorted(), ['one', 'two'])
  t.deepEqual(names(row?.bodyPartLink, 'label'), ['in the zone'])
  const [tagRow] = plain(await modelOf(server, 'tag').findAll({ include: ['products'] })) as readonly Record<
    string,
    unknown
  >[]
  t.true(names(tagRow?.products, 'title').includes('pot'))
  const [annRow] = plain(
    await modelOf(server, 'maker').findAll({ where: { name: 'ann' }, include: ['boss', 'products'] }),
  ) as readonly Record<string, unknown>[]
  t.like(annRow?.boss, { name: 'boss' })
  const [bossRow] = plain(
    await modelOf(server, 'maker').findAll({ where: { name: 'boss' }, include: ['deputy'] }),
  ) as readonly Record<string, unknown>[]
  t.like(bossRow?.deputy, { name: 'ann' })
})

test('JSON of a row has no passwords, in rows and components that it includes either', async t => {
  const vault = {
    components: { 'part.key': { attributes: { label: 'string', code: 'password' } } },
    contentTypes: {
      keeper: { attributes: { name: 'string', pin: 'password', dataValues: 'password' } },
      vault: {
        attributes: {
          keepers: relation('manyToMany', 'keeper'),
          chief: relation('manyToOne', 'keeper'),
          key: { type: 'component', component: 'part.key' },
        },
      },
    },
  }
  const server = await open(t, vault)
  const keepers = server.app.documents('keeper')
  const { documentId } = await keepers.create({ data: { name: 'ann', pin: 'secret', dataValues: 'secret' } })
  await server.app.documents('vault').create({
    data: { keepers: [documentId], chief: documentId, key: { label: 'front', code: 'secret' } },
  })
  const include = ['keepers', 'chief', 'key']
  const rows = await modelOf(server, 'vault').findAll({ include })
  for (const json of [rows.map(row => row.toJSON()), JSON.parse(JSON.stringify(rows))] as [object][]) {
    t.like(json[0], { keepers: [{ name: 'ann' }], chief: { name: 'ann' }, key: { label: 'front' } })
    t.notRegex(JSON.stringify(json), /"pin"|"code"|"dataValues_"|\$2b\$/)
  }
})

const NAMES = ['sequelize', 'order', 'get', 'save', 'dataValues', 'owner', 'position', 'where', 'id1']

const ODD = {
  components: { 'box.plain': { attributes: { owner: 'string', get: 'integer' } } },
  contentTypes: {
    model: {
      draftAndPublish: true,
      attributes: Object.fromEntries([
        ...NAMES.map(name => [name, 'string']),
        ...Array.from({ length: 200 }, (_, at) => [`wide${at}`, 'integer']),
        ['one', { type: 'component', component: 'box.plain' }],
      ]),
    },
    sequelize: {
      attributes: {
        model: relation('manyToOne', 'model'),
        self: relation('manyToMany', 'sequelize', { inversedBy: 'others' }),
        others: relation('manyToMany', 'sequelize', { mappedBy: 'self' }),
        list: { type: 'component', component: 'box.plain', repeatable: true },
      },
    },
  },
}

test('attributes and types may have the names of methods of Sequelize', async t => {
  const { app } = await open(t, ODD)
  const model = app.models.model
  const values = Object.fromEntries(NAMES.map(name => [name, `value of ${name}`]))
  await app.documents('api::model.model').create({ data: { ...values, one: { owner: 'me', get: 7 } } })
  const version = { where: { status: 'draft' }, required: false }
  const [row] = plain((await model?.findAll({ include: [{ association: 'one', ...version }] })) ?? [])
  const { dataValues, ...others } = values
  t.like(row, { ...others, dataValues_: dataValues, one: { owner: 'me', get: 7 } })
  await app.models.sequelize?.findAll({ include: ['self', 'others', 'list', 'model'] })
})

for (const folder of ['.', 'tests/conformance/project', ODD])
  test(`the models of ${typeof folder === 'string' ? folder : 'odd names'} have the columns of the tables`, async t => {
    const secret = 'a-secret-of-more-than-32-characters-0123456789'
    const env = { PORT: '0', HOST: '127.0.0.1', JWT_SECRET: secret, KEY: secret }
    const app = await openTestApp(t, { project: folder, env })
    const { models, sequelize } = app.app
    const queries = sequelize.getQueryInterface()
    t.true(Object.keys(models).length > 5)
    for (const model of Object.values(sequelize.models)) {
      const table = await queries.describeTable(model.getTableName() as never)
      const columns = Object.values(model.getAttributes()).map(({ field = '', allowNull, primaryKey }) => [
        field,
        { allowNull: primaryKey === true ? false : allowNull, primaryKey: primaryKey === true },
      ])
      // Triggers fill the vectors of searches (docs/search.md).
      const described = Object.entries(table)
        .filter(([, { type }]) => type !== 'TSVECTOR')
        .map(([name, { allowNull, primaryKey }]) => [name, { allowNull, primaryKey }])
      t.deepEqual(Object.fromEntries(columns), Object.fromEntries(described), model.name)
      await model.findOne()
    }
  })

const HOLDER = `import { defineExtension } from 'plinth'
export default defineExtension({
  register({ rest }) {
    rest.route('GET', '/hold', async ({ app }) => {
      await app.transaction(async () => {
        await app.documents('line').count()
        process.emit('test-held')
        await new Promise(resolve => process.once('test-release', resolve))
      })
      return { done: true }
    }, { auth: false })
  },
})
`

test('what waits in vain for the embedded database is 503, and the log names the transaction that holds it', async t => {
  const folder = temporaryFolder()
  t.teardown(folder.remove)
  folder.write(
    'project.yaml',
    JSON.stringify({ name: 'Shop', ...SHOP, database: { pool: { acquire: 1500 } } }),
  )
  folder.write('extensions/holder.js', HOLDER)
  const server = await createTestApp({ project: folder.path, snapshot: await snapshot() })
  t.teardown(() => server.close())
  const signals = process as unknown as NodeJS.EventEmitter
  const isHeld = new Promise(resolve => signals.once('test-held', resolve))
  const held = server.request('GET', '/api/hold')
  await isHeld
  const waiting = await Promise.all([
    server.request('GET', '/api/tags'),
    server.request('POST', '/api/tags', { body: { data: { name: 'a' } } }),
    server.request('GET', '/api/lines?sort=amount'),
  ])
  signals.emit('test-release')
  t.like(await held, { status: 200, body: { done: true } })
  const refused = waiting.filter(({ status }) => status === 503)
  t.true(refused.length > 0, JSON.stringify(waiting.map(({ status }) => status)))
  t.regex(
    server.log().join('\n'),
    /The embedded database has one session, and the transaction of extensions\/holder\.js:5 has held it for \d+ s/,
  )
  t.is((await server.request('GET', '/api/tags')).status, 200)
})
