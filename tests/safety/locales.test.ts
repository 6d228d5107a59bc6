import test from 'ava'
import { conformanceProject } from './conformance-project.ts'
import { openWorld, type World } from './world.ts'

// Safety rules S4 and S5 for writers that are limited to some locales: shared values require access to every locale, and
// links reveal nothing about hidden locales.
const WRITER = 'writer-conformance-token-00000000000000'
const MINE = '{ where: { title: { $startsWith: Mine } } }'

let world: World
let document: string
test.before(async () => {
  world = await openWorld(
    conformanceProject(`
  writer:
    type: custom
    secret: ${WRITER}
    permissions:
      article: { find: ${MINE}, findOne: ${MINE}, create: ${MINE}, update: ${MINE} }
      category: [find, create, update]
      homepage: [find, create, update]
`),
  )
  const { make } = world
  const values = { title: 'Hers', kind: 'news', rating: 5, links: [{ label: 'hers', url: '/' }] }
  document = (await make('POST', '/api/articles', values)).documentId
  await make('PUT', `/api/articles/${document}?locale=fr`, { title: 'Mine too' })
})
test.after.always(() => world?.close())

const SHARED = [
  { kind: 'opinion' },
  { rating: 1 },
  { links: [] },
  { seo: { metaTitle: 'mine' } },
  { blocks: [] },
  { title: 'Mine still', featured: true },
]

test.serial('values shared by all locales require permission to change each of the locales', async t => {
  const read = () =>
    world.make('GET', `/api/articles/${document}?populate=*&fields=kind,rating,featured,title`)
  const before = await read()
  for (const status of ['draft', 'published']) {
    const path = `/api/articles/${document}?locale=fr&status=${status}`
    for (const data of SHARED) {
      const answer = await world.ask('PUT', path, { as: WRITER, data })
      t.is(answer.status, 403, `${status} ${JSON.stringify(data)}`)
    }
    const own = await world.ask('PUT', path, { as: WRITER, data: { title: 'Mine again', body: 'mine' } })
    t.is(own.status, 200, own.text)
  }
  t.deepEqual({ ...(await read()), localizations: null }, { ...before, localizations: null })
})

test.serial(
  'publishing shared values changed in drafts requires permission to publish each locale',
  async t => {
    const path = `/api/articles/${document}`
    const rating = async () => (await world.make('GET', `${path}?fields=rating`)).rating
    await world.make('PUT', `${path}?status=draft`, { rating: 9 })
    t.is(await rating(), 5)
    t.is((await world.ask('PUT', `${path}?locale=fr`, { as: WRITER, data: {} })).status, 403)
    t.is(await rating(), 5)
    const drafted = await world.ask('PUT', `${path}?locale=fr&status=draft`, { as: WRITER, data: {} })
    t.is(drafted.status, 200, drafted.text)
    await world.make('PUT', path, {})
    t.is(await rating(), 9)
    const own = await world.ask('PUT', `${path}?locale=fr`, { as: WRITER, data: { title: 'Mine again' } })
    t.is(own.status, 200, own.text)
  },
)

test.serial('a change of shared values may not move a locale out of the caller’s condition', async t => {
  const { documentId } = await world.make('POST', '/api/articles', { title: 'Mine', kind: 'news' })
  const path = `/api/articles/${documentId}?locale=fr`
  const made = await world.ask('PUT', path, {
    as: WRITER,
    data: { title: 'Mine in French', kind: 'review' },
  })
  t.is(made.status, 200, made.text)
  t.is((await world.make('GET', `/api/articles/${documentId}`)).kind, 'review')
  const turned = await world.ask('PUT', path, { as: WRITER, data: { title: 'Hers', kind: 'news' } })
  t.is(turned.status, 403)
  t.is((await world.make('GET', `/api/articles/${documentId}`)).kind, 'review')
})

test.serial('a link to a hidden locale is indistinguishable from one to a missing locale', async t => {
  const category = (await world.make('POST', '/api/categories', { name: 'News' })).documentId
  let links = 0
  const link = async (method: string, path: string, attribute: string, ref: unknown) => {
    const named = path.startsWith('/api/categories') ? { name: `News ${++links}` } : { title: 'Mine' }
    const data = { ...named, [attribute]: { connect: [ref] } }
    const { status, text } = await world.ask(method, path, { as: WRITER, data })
    return { status, text: text.replaceAll(/"(en|it)"|\\"(en|it)\\"/g, '"…"') }
  }
  const id = { documentId: document }
  const [paths, created] = [
    [`/api/categories/${category}`, 'PUT'] as const,
    ['/api/categories', 'POST'] as const,
  ]
  for (const [path, method] of [paths, created]) {
    const hidden = await link(method, path, 'articles', { ...id, locale: 'en' })
    t.regex(hidden.text, /Document with id .* not found/)
    t.deepEqual(hidden, await link(method, path, 'articles', { ...id, locale: 'it' }))
    t.true((await link(method, path, 'articles', { ...id, locale: 'fr' })).status < 300)
  }
  for (const [path, attribute] of [
    ['/api/articles', 'related'],
    ['/api/homepage', 'featured'],
  ] as const) {
    const method = path === '/api/homepage' ? 'PUT' : 'POST'
    const hidden = await link(method, `${path}?locale=en`, attribute, id)
    t.regex(hidden.text, /Document with id .* not found/)
    t.deepEqual(hidden, await link(method, `${path}?locale=it`, attribute, id))
    const seen = await link(method, `${path}?locale=fr`, attribute, id)
    t.true(seen.status < 300, seen.text)
  }
})
