import test from 'ava'
import { type Body, errorOf, namesIn, openRoom, type Room, type Value } from './reading-room.ts'

// reference/rest.md#8-populate
let room: Room
test.before(async () => {
  room = await openRoom()
})
test.after.always(() => room?.close())

const ember = (query: string): Promise<Body> => room.one(`/api/books/ember?${query}`)
const list = (value: Value | undefined): readonly Body[] => value as readonly Body[]

const message = async (path: string): Promise<Value | undefined> => {
  const error = errorOf(await room.get(path))
  return error.status === 400 ? error.message : `status ${String(error.status)}`
}

const LINKS = [
  'author',
  'subjects',
  'sequels',
  'cover',
  'scans',
  'edition',
  'editions',
  'pieces',
  'localizations',
]

test('nothing is populated by default', async t => {
  const book = await ember('')
  for (const name of LINKS) t.false(name in book, name)
})

test('a star populates the first level: relations, media, components, zones and localizations', async t => {
  const book = await ember('populate=*')
  for (const name of LINKS) t.true(name in book, name)
  t.false('books' in (book.author as Body))
})

test('populate accepts every syntax', async t => {
  const ways = [
    'populate=author,subjects',
    'populate[0]=author&populate[1]=subjects',
    'populate[]=author&populate[]=subjects',
    'populate=author&populate=subjects',
    'populate[author]=true&populate[subjects]=1',
  ]
  for (const way of ways) {
    const book = await ember(`fields=title&${way}`)
    t.deepEqual(Object.keys(book).sort(), ['author', 'documentId', 'id', 'subjects', 'title'], way)
  }
})

test('false excludes an attribute, and empty parts are ignored', async t => {
  t.false('author' in (await ember('populate[author]=false&populate[subjects]=true')))
  t.is((await room.get('/api/books/ember?populate=')).status, 200)
  t.is((await room.get('/api/books/ember?populate[0]=')).status, 200)
})

test('a to-one relation is an object or null, with all scalars and no relations', async t => {
  const author = (await ember('populate=author')).author as Body
  t.deepEqual(Object.keys(author).sort(), [
    'born',
    'createdAt',
    'documentId',
    'email',
    'id',
    'name',
    'publishedAt',
    'updatedAt',
  ])
  t.is((await room.one('/api/books/glass?populate=author')).author, null)
})

test('a to-many relation is a list in stored order', async t => {
  t.deepEqual(namesIn((await ember('populate=subjects')).subjects), ['Night', 'Fire'])
  t.deepEqual(namesIn((await room.one('/api/shelves/window?populate=books')).books, 'code'), ['D4', 'A1'])
  t.deepEqual((await room.one('/api/books/glass?populate=subjects')).subjects, [])
})

test('the inverse side of a relation shows the same links', async t => {
  t.deepEqual(namesIn((await room.one('/api/people/ben?populate=books')).books, 'code'), ['B2'])
  t.deepEqual(namesIn((await room.one('/api/subjects/night?populate=books')).books, 'code'), ['A1', 'B2'])
})

test('a type without locales shows the linking documents of every locale separately', async t => {
  const books = (await room.one('/api/people/ada?populate=books')).books
  t.deepEqual(namesIn(books, 'title'), ['Ember', 'Braise', 'hollow'])
  t.deepEqual(namesIn(books, 'locale'), ['en', 'fr', 'en'])
})

test('related documents are populated to the requested depth', async t => {
  for (const way of [
    'populate=author.books.subjects',
    'populate[author][populate][books][populate]=subjects',
    'populate[author][populate][books][populate][0]=subjects',
  ]) {
    const author = (await ember(way)).author as Body
    t.deepEqual(
      list(author.books).map(book => namesIn(book.subjects).join('+')),
      ['Night+Fire', 'Fire', 'Sea+Fire'],
      way,
    )
  }
})

test('fields, filters and sort work inside populate', async t => {
  const fields = (await ember('populate[author][fields]=name')).author as Body
  t.deepEqual(Object.keys(fields).sort(), ['documentId', 'id', 'name'])
  t.deepEqual(namesIn((await ember('populate[subjects][filters][weight][$gt]=1')).subjects), ['Fire'])
  t.deepEqual(namesIn((await ember('populate[subjects][sort]=name')).subjects), ['Fire', 'Night'])
  t.deepEqual(namesIn((await ember('populate[subjects][sort][0]=weight:asc')).subjects), ['Night', 'Fire'])
  t.is((await ember('populate[author][filters][name]=Ben')).author, null)
})

test('count: true returns the number instead of the documents', async t => {
  t.deepEqual((await ember('populate[subjects][count]=true')).subjects, { count: 2 })
})

test('pages, status and locale inside populate are refused', async t => {
  for (const key of ['limit', 'start', 'page', 'pageSize', 'pagination', 'status', 'locale']) {
    t.is(await message(`/api/books?populate[subjects][${key}]=1`), `Invalid key ${key} at subjects`)
  }
})

test('a component is an object or null, a repeatable one an ordered list, and its relations come on demand', async t => {
  const book = await ember('populate[0]=edition&populate[1]=editions')
  const edition = book.edition as Body
  t.deepEqual({ ...edition, id: typeof edition.id }, { id: 'number', format: 'hardback', price: 20 })
  t.deepEqual(namesIn(book.editions, 'format'), ['paperback', 'audio'])
  const deep = (await ember('populate[edition][populate]=*')).edition as Body
  t.deepEqual(namesIn(deep.links, 'url'), ['/shop'])
  t.is((deep.publisher as Body).name, 'Ben')
  t.is((deep.scan as Body).name, 'cover.png')
  const glass = await room.one('/api/books/glass?populate=*')
  t.is(glass.edition, null)
  t.deepEqual(glass.editions, [])
})

test('a populate path crosses components', async t => {
  const book = await ember('populate=edition.publisher,editions.links')
  t.is(((book.edition as Body).publisher as Body).name, 'Ben')
  t.deepEqual(
    list(book.editions).map(edition => namesIn(edition.links, 'label').join('+')),
    ['first+second', ''],
  )
})

test('a zone lists its components in order, each with its name', async t => {
  const pieces = list((await ember('populate=pieces')).pieces)
  t.deepEqual(namesIn(pieces, '__component'), ['parts.note', 'parts.link', 'parts.note'])
  t.deepEqual(
    namesIn(
      pieces.filter(piece => piece.__component === 'parts.note'),
      'text',
    ),
    ['Read twice.', 'Unsigned.'],
  )
  t.true(pieces.every(piece => typeof piece.id === 'number' && !('reader' in piece)))
})

test("relations in a zone's components are populated by a star, a path, or fragments", async t => {
  for (const way of [
    'populate[pieces][populate]=*',
    'populate=pieces.reader',
    'populate[pieces][on][parts.note][populate]=reader',
  ]) {
    const notes = list((await ember(way)).pieces).filter(piece => piece.__component === 'parts.note')
    t.deepEqual(
      notes.map(note => (note.reader as Body | null)?.name ?? null),
      ['Ben', null],
      way,
    )
  }
})

test('fragments return only the components that they name', async t => {
  t.deepEqual(namesIn((await ember('populate[pieces][on][parts.link]=true')).pieces, 'label'), ['more'])
  t.deepEqual((await ember('populate[pieces][on][parts.edition]=true')).pieces, [])
  t.is(
    await message('/api/books?populate[pieces][on][parts.nothing]=true'),
    'Invalid key parts.nothing at pieces.on.parts.nothing',
  )
})

test('a fragment may filter the entries of its component, but not by unreadable attributes', async t => {
  const pieces = async (query: string) =>
    namesIn(list((await ember(`populate[pieces][on][parts.note]${query}`)).pieces), 'text')
  t.deepEqual(await pieces('[filters][text][$contains]=twice'), ['Read twice.'])
  t.deepEqual(await pieces('[filters][reader][name]=Ben&populate[pieces][on][parts.link]=true'), [
    'Read twice.',
    null,
  ])
  t.deepEqual(await pieces('[filters][reader][name][$null]=true'), ['Unsigned.'])
  for (const [filter, fault] of [
    ['[nothing]=x', 'Invalid key nothing'],
    ['[reader][secret]=x', 'Invalid key secret at reader.secret'],
  ])
    t.is(await message(`/api/books?populate[pieces][on][parts.note][filters]${filter}`), fault)
})

test('a zone accepts only fragments or a count, and only zones accept fragments', async t => {
  t.is(
    await message('/api/books?populate[pieces][fields]=text'),
    'Invalid nested populate for book.pieces (api::book.book). Expected a fragment ("on") or "count" but found {"fields":"text"}',
  )
  t.is(
    await message('/api/books?populate[author][on][parts.note]=true'),
    'Using fragments is not permitted to populate "author" in "api::book.book"',
  )
})

test('media attributes return their file', async t => {
  const book = await ember('populate[0]=cover&populate[1]=scans')
  const cover = book.cover as Body
  t.like(cover, {
    name: 'cover.png',
    alternativeText: 'Cover',
    caption: 'Front',
    ext: '.png',
    mime: 'image/png',
    width: 320,
    height: 200,
  })
  t.regex(String(cover.hash), /^cover_[0-9a-f]{10}$/)
  t.is(cover.url, `/uploads/${String(cover.hash)}.png`)
  t.is(cover.size, 4.13)
  t.deepEqual(namesIn(book.scans), ['ada.png', 'cover.png'])
})

test('attributes that cannot be populated are refused by name', async t => {
  for (const name of ['nothing', 'title', 'hidden', 'createdBy']) {
    t.is(await message(`/api/books?populate=${name}`), `Invalid key ${name}`)
    t.is(await message(`/api/books?populate[${name}]=true`), `Invalid key ${name}`)
  }
  t.not(await message('/api/books?populate[0]=*'), 'status 200')
})

test('a relation to a type that the caller may not find is omitted silently', async t => {
  const found = async (query: string) =>
    ((await room.get(`/api/books/ember?${query}`, null)).body as { data: Body }).data
  t.false('subjects' in (await found('populate=subjects')))
  t.false('subjects' in (await found('populate=*')))
  t.true('author' in (await found('populate=*')))
  t.true('cover' in (await found('populate=*')))
  const author = (await found('populate[author][populate]=diary')).author as Body
  t.false('diary' in author)
  t.false('author' in (await found('populate=author.diary')))
})

test('a filter inside populate follows the same rules', async t => {
  t.regex(
    String(await message('/api/books?populate[author][filters][secret]=whisper')),
    /^Invalid key secret/,
  )
  t.regex(String(await message('/api/books?populate[author][sort]=secret')), /^Invalid key secret/)
  t.regex(String(await message('/api/books?populate[author][fields]=pin')), /^Invalid key pin/)
})
