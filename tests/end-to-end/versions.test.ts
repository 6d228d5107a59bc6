import test from 'ava'
import { type Body, errorOf, metaOf, namesIn, openRoom, type Room, type Value } from './reading-room.ts'

// reference/rest.md
let room: Room
test.before(async () => {
  room = await openRoom()
})
test.after.always(() => room?.close())

const codes = async (query: string): Promise<readonly Value[]> =>
  namesIn(await room.many(`/api/books?${query}`), 'code')

test('without a status, published documents are read and drafts are hidden', async t => {
  for (const query of ['', 'status=published']) t.deepEqual(await codes(query), ['A1', 'B2', 'C3', 'D4'])
  t.is((await room.get('/api/books/ink')).status, 404)
  t.deepEqual(metaOf(await room.get('/api/books')).pagination, {
    page: 1,
    pageSize: 5,
    pageCount: 1,
    total: 4,
  })
})

test('status=draft reads the draft of every document, published or not', async t => {
  t.deepEqual(await codes('status=draft'), ['A1', 'B2', 'C3', 'D4', 'E5'])
  t.is((await room.one('/api/books/ink?status=draft')).publishedAt, null)
  t.is((await room.one('/api/books/ember?status=draft')).publishedAt, null)
  t.not((await room.one('/api/books/ember')).publishedAt, null)
})

test('the draft and the published version have different ids and one documentId', async t => {
  const [published, draft] = [
    await room.one('/api/books/ember'),
    await room.one('/api/books/ember?status=draft'),
  ]
  t.is(published.documentId, draft.documentId)
  t.not(published.id, draft.id)
})

test('any other status is refused', async t => {
  for (const query of ['status=', 'status=Draft', 'status=live', 'status=draft&status=draft']) {
    t.is(errorOf(await room.get(`/api/books?${query}`)).name, 'ValidationError', query)
  }
})

test('types without drafts ignore the status', async t => {
  t.is((await room.many('/api/people?status=draft')).length, 3)
})

test('related documents follow the status of the request, also from types without drafts', async t => {
  const shelf = async (query: string) =>
    namesIn((await room.one(`/api/shelves/desk?populate=books&${query}`)).books, 'code')
  t.deepEqual(await shelf(''), ['A1'])
  t.deepEqual(await shelf('status=draft'), ['E5', 'A1'])
  const ben = async (query: string) =>
    namesIn((await room.one(`/api/people/ben?populate=books&${query}`)).books, 'code')
  t.deepEqual(await ben(''), ['B2'])
  t.deepEqual(await ben('status=draft'), ['B2', 'E5'])
})

test('publicationFilter and its older form filter by publication state', async t => {
  t.deepEqual(await codes('status=draft&publicationFilter=never-published'), ['E5'])
  t.deepEqual(await codes('status=draft&publicationFilter=has-published-version'), ['A1', 'B2', 'C3', 'D4'])
  t.deepEqual(await codes('status=draft&publicationFilter=modified'), [])
  t.deepEqual(await codes('status=draft&hasPublishedVersion=false'), ['E5'])
  t.is((await room.get('/api/books?publicationFilter=nothing')).status, 400)
})

test('the default locale is read unless another is requested', async t => {
  for (const query of ['', 'locale=', 'locale=en'])
    t.is((await room.one(`/api/books/ember?${query}`)).title, 'Ember')
  t.is((await room.one('/api/books/ember?locale=fr')).title, 'Braise')
  t.deepEqual(namesIn(await room.many('/api/books?locale=fr'), 'title'), ['Braise', 'Givre'])
})

test('attributes that are not localized are equal in every locale', async t => {
  const french = await room.one('/api/books/ember?locale=fr&populate=*')
  t.like(french, { code: 'A1', pages: 120, locale: 'fr', subtitle: 'Bonjour', body: null })
  t.deepEqual(namesIn(french.subjects), ['Fire'])
  t.is((french.edition as Body).format, 'hardback')
  t.is((french.cover as Body).name, 'cover.png')
  t.is((french.pieces as readonly Body[]).length, 3)
})

test('a list accepts several locales, or all', async t => {
  const all = ['Ember', 'Braise', 'Frost', 'Givre', 'Glass', 'hollow']
  for (const query of ['locale=*', 'locale[0]=en&locale[1]=fr', 'locale=en&locale=fr']) {
    t.deepEqual(
      [...namesIn(await room.many(`/api/books?pagination[limit]=8&${query}`), 'title')].sort(),
      [...all].sort(),
      query,
    )
  }
})

test('a filter on the locale selects locales, also of one document', async t => {
  const titles = async (query: string) => [...namesIn(await room.many(`/api/books?${query}`), 'title')].sort()
  for (const query of ['', '&locale=en', '&locale=*'])
    t.deepEqual(await titles(`filters[locale]=fr${query}`), ['Braise', 'Givre'], query)
  t.deepEqual(await titles('filters[$and][0][locale]=fr'), [])
  t.is((await room.one('/api/books/ember?filters[locale]=fr')).title, 'Braise')
  t.is((await room.get('/api/books/hollow?filters[locale]=fr')).status, 404)
})

test('a locale without documents has an empty list, and its documents are not found', async t => {
  t.deepEqual(await codes('locale=it'), [])
  t.deepEqual(await codes('locale=xx'), [])
  for (const locale of ['it', 'xx', '*', 'FR'])
    t.is((await room.get(`/api/books/ember?locale=${locale}`)).status, 404, locale)
  t.is((await room.get('/api/books/hollow?locale=fr')).status, 404)
})

test('one document accepts one locale', async t => {
  t.is(
    errorOf(await room.get('/api/books/ember?locale[0]=en&locale[1]=fr')).message,
    'Invalid locale param en,fr provided. Document locales must be strings.',
  )
})

test('types without locales ignore them', async t => {
  t.is((await room.one('/api/people/ada?locale=fr')).name, 'Ada')
})

test('localizations are the other locales of the same version', async t => {
  t.deepEqual(namesIn((await room.one('/api/books/ember?populate=localizations')).localizations, 'title'), [
    'Braise',
  ])
  t.deepEqual(
    namesIn((await room.one('/api/books/ember?locale=fr&populate=localizations')).localizations, 'title'),
    ['Ember'],
  )
  t.deepEqual((await room.one('/api/books/glass?populate=localizations')).localizations, [])
})

test('links of a localized document resolve to the same locale', async t => {
  const author = (await room.one('/api/books/ember?locale=fr&populate=author.books')).author as Body
  t.is(author.name, 'Ada')
})

test('a single type returns its one document, or 404 before it exists', async t => {
  const answer = await room.get('/api/notice')
  t.is(answer.status, 200)
  t.is(((answer.body as Body).data as Body).text, 'Silence, please.')
  t.deepEqual(metaOf(answer), {})
  t.is((await room.get('/api/imprint')).status, 404)
})

test('a single type has neither a plural path nor a path below its own', async t => {
  t.is((await room.get('/api/notice/notice')).status, 404)
  t.is((await room.get('/api/notices')).status, 404)
})

test('a single type has drafts and locales, and filters apply to it', async t => {
  t.is((await room.one('/api/landing')).title, 'Welcome')
  t.is((await room.one('/api/landing?locale=fr')).title, 'Bienvenue')
  t.is((await room.one('/api/landing?status=draft')).publishedAt, null)
  t.is((await room.get('/api/landing?locale=it')).status, 404)
  t.is((await room.get('/api/notice?filters[text]=other')).status, 404)
})
