import test, { type ExecutionContext } from 'ava'
import { openTestApp } from '../harness/test-app.ts'

/** Attributes that no request may set: at the top, in a component, with a default and required. */
const sealed = {
  origin: { type: 'string', writable: false, default: 'shop' },
  serial: { type: 'integer', writable: false, required: true, default: 7 },
  stamp: { type: 'string', writable: false },
}
interface Reply {
  readonly status: number
  readonly data: { readonly documentId: string; readonly line: { readonly id: number } }
  readonly message: string | undefined
}

async function openProject(t: ExecutionContext, project: Readonly<Record<string, unknown>>) {
  const { app, request } = await openTestApp(t, { project })
  const send = async (method: string, path: string, data: object): Promise<Reply> => {
    const { status, body } = await request(method, `/api/${path}`, { body: { data } })
    const { data: answered, error } = body as { data: Reply['data']; error?: { message: string } }
    return { status, data: answered, message: error?.message }
  }
  return { app, send }
}

const openShop = (t: ExecutionContext) =>
  openProject(t, {
    name: 'Sealed',
    components: { 'shop.line': { attributes: { text: 'string', ...sealed } } },
    contentTypes: Object.fromEntries(
      ['order', 'offer'].map(name => [
        name,
        {
          draftAndPublish: name === 'offer',
          attributes: {
            text: 'string',
            ...sealed,
            line: { type: 'component', component: 'shop.line' },
            lines: { type: 'component', component: 'shop.line', repeatable: true },
            parts: { type: 'dynamiczone', components: ['shop.line'] },
          },
        },
      ]),
    ),
    roles: { public: { permissions: { '*': '*' } } },
  })

const DEFAULTS = { origin: 'shop', serial: 7, stamp: null }

test('attributes that no request may set get their defaults, in components and zones too', async t => {
  const { send } = await openShop(t)
  const given = { text: 'a', line: { text: 'b' }, lines: [{}], parts: [{ __component: 'shop.line' }] }
  for (const [path, query] of [
    ['orders', 'populate=*'],
    ['offers', 'populate=*'],
    ['offers', 'status=draft&populate=*'],
  ]) {
    const { status, data } = await send('POST', `${path}?${query}`, given)
    t.is(status, 201, path)
    t.like(data, { ...DEFAULTS, line: { text: 'b', ...DEFAULTS }, lines: [DEFAULTS], parts: [DEFAULTS] })
    const change = { text: 'c', line: { id: data.line.id, text: 'd' } }
    const changed = await send('PUT', `${path}/${data.documentId}?${query}`, change)
    t.like(changed.data, { text: 'c', ...DEFAULTS, line: { text: 'd', ...DEFAULTS } }, path)
  }
})

test('code sets attributes that no request may set', async t => {
  const { app, send } = await openShop(t)
  for (const name of ['order', 'offer']) {
    const documents = app.documents(name)
    const line = { serial: 2, stamp: 'line' }
    const made = await documents.create({
      data: { serial: 1, stamp: 'code', line, parts: [{ __component: 'shop.line', ...line }] },
      populate: '*',
    })
    t.like(made, {
      origin: 'shop',
      serial: 1,
      stamp: 'code',
      line: { ...line, origin: 'shop' },
      parts: [line],
    })
    const { documentId } = made
    t.like(await documents.update({ documentId, data: { stamp: 'again' } }), { serial: 1, stamp: 'again' })
    for (const [data, message] of [
      [{ stamp: 'x' }, 'Invalid key stamp'],
      [{ line: { stamp: 'x' } }, 'Invalid key stamp at line.stamp'],
      [{ parts: [{ __component: 'shop.line', stamp: 'x' }] }, 'Invalid key stamp at parts.stamp'],
    ] as const) {
      const refused = await send('PUT', `${name}s/${documentId}`, data)
      t.is(refused.status, 400)
      t.is(refused.message, message)
    }
  }
})

test('a required attribute that no request may set and that code left out is reported', async t => {
  const serial = { type: 'string', writable: false, required: true }
  const { app, send } = await openProject(t, {
    name: 'Lacking',
    components: { 'shop.line': { attributes: { serial } } },
    contentTypes: {
      order: { attributes: { serial } },
      offer: { draftAndPublish: true, attributes: { serial } },
      line: { attributes: { line: { type: 'component', component: 'shop.line' } } },
    },
    roles: { public: { permissions: { '*': '*' } } },
  })
  const post = async (path: string, data = {}) => {
    const { status, message = '' } = await send('POST', path, data)
    return `${status} ${message}`
  }
  t.is(await post('orders'), '400 serial must be defined.')
  t.is(await post('offers'), '400 serial must be a `string` type, but the final value was: `null`.')
  t.is(await post('offers?status=draft'), '201 ')
  t.is(
    await post('lines', { line: {} }),
    '400 line.serial must be a `string` type, but the final value was: `null`.',
  )
  const [draft] = await app.documents('offer').findMany({ status: 'draft' })
  const documentId = String(draft?.documentId)
  t.is((await send('PUT', `offers/${documentId}`, {})).status, 400)
  await app.documents('offer').update({ documentId, data: { serial: 'S' } })
  t.is((await send('PUT', `offers/${documentId}`, {})).status, 200)
})
