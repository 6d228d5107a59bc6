import test from 'ava'
import { errorOf, metaOf, namesIn, openRoom, type Room, type Value } from './reading-room.ts'

// reference/rest.md
let room: Room
test.before(async () => {
  room = await openRoom()
})
test.after.always(() => room?.close())

const refused = async (query: string): Promise<Value | undefined> =>
  errorOf(await room.get(`/api/books?${query}`)).message

test('fields accepts every list syntax, and the ids are always returned', async t => {
  const ways = [
    'fields=title,pages',
    'fields=title, pages',
    'fields[0]=title&fields[1]=pages',
    'fields[]=title&fields[]=pages',
    'fields=title&fields=pages',
  ]
  for (const way of ways) {
    t.deepEqual(
      Object.keys(await room.one(`/api/books/ember?${way}`)).sort(),
      ['documentId', 'id', 'pages', 'title'],
      way,
    )
  }
  t.true('subtitle' in (await room.one('/api/books/ember?fields=*')))
  t.true('subtitle' in (await room.one('/api/books/ember?fields[0]=*&fields[1]=title')))
})

test('fields refuses relations, unknown and private attributes and passwords', async t => {
  for (const name of ['nothing', 'author', 'cover', 'edition', 'pieces', 'hidden']) {
    t.is(await refused(`fields=${name}`), `Invalid key ${name}`)
  }
  t.is(errorOf(await room.get('/api/people?fields=pin')).message, 'Invalid key pin')
})

test('fields refuses a comma within a list item, and an object', async t => {
  const message = 'Invalid fields parameter. Expected a string or an array of strings'
  t.is(await refused('fields[0]=title,pages'), message)
  t.is(await refused('fields[a][b]=title'), message)
})

test('pages have the default size of the project, or the requested one up to the limit', async t => {
  const pagination = async (query: string) =>
    metaOf(await room.get(`/api/books?status=draft&${query}`)).pagination
  t.deepEqual(await pagination(''), { page: 1, pageSize: 5, pageCount: 1, total: 5 })
  t.deepEqual(await pagination('pagination[page]=2&pagination[pageSize]=2'), {
    page: 2,
    pageSize: 2,
    pageCount: 3,
    total: 5,
  })
  t.deepEqual(await pagination('pagination[pageSize]=1000'), { page: 1, pageSize: 8, pageCount: 1, total: 5 })
  t.deepEqual(await pagination('pagination[pageSize]=0'), { page: 1, pageSize: 1, pageCount: 5, total: 5 })
  t.deepEqual(await pagination('pagination[page]=0'), { page: 1, pageSize: 5, pageCount: 1, total: 5 })
  t.deepEqual(await pagination('pagination[page]=9'), { page: 9, pageSize: 5, pageCount: 1, total: 5 })
  t.deepEqual(await pagination('filters[code]=none'), { page: 1, pageSize: 5, pageCount: 0, total: 0 })
})

test('start and limit paginate as well', async t => {
  const answer = await room.get('/api/books?sort=code&pagination[start]=1&pagination[limit]=2')
  t.deepEqual(namesIn((answer.body as { data: Value }).data, 'code'), ['B2', 'C3'])
  t.deepEqual(metaOf(answer).pagination, { start: 1, limit: 2, total: 4 })
})

test('the total is omitted on demand', async t => {
  const answer = await room.get('/api/books?pagination[withCount]=false')
  t.deepEqual(metaOf(answer).pagination, { page: 1, pageSize: 5 })
  t.is(
    await refused('pagination[withCount]=maybe'),
    'Invalid withCount parameter. Expected "t","1","true","false","0","f"',
  )
})

test('pages neither repeat nor skip a document', async t => {
  const seen: (Value | undefined)[] = []
  for (let page = 1; page <= 4; page++) {
    const books = await room.many(`/api/books?sort=pages&pagination[page]=${page}&pagination[pageSize]=1`)
    seen.push(...books.map(book => book.code))
  }
  t.deepEqual([...seen].sort(), ['A1', 'B2', 'C3', 'D4'])
})

test('mixing both forms of pagination, or page keys at the top level, is refused', async t => {
  const mixed = errorOf(await room.get('/api/books?pagination[page]=1&pagination[limit]=1'))
  t.is(mixed.name, 'PaginationError')
  t.is(mixed.message, 'Cannot use both page & offset pagination in the same query')
  const outside = errorOf(await room.get('/api/books?page=2'))
  t.is(outside.name, 'PaginationError')
  t.is(
    outside.message,
    'Invalid pagination attributes. The page parameters are incorrect and must be in the pagination object',
  )
})

test('a page that is not a number is refused', async t => {
  t.is(await refused('pagination[page]=two'), 'convertStartQueryParams expected a positive integer got NaN')
  t.is(
    await refused('pagination[pageSize]=2.7'),
    'convertLimitQueryParams expected a positive integer got 2.7',
  )
})

test('pagination is ignored on one document', async t => {
  t.is((await room.get('/api/books/ember?pagination[page]=two')).status, 200)
})

test('without a sort, documents are ordered by id', async t => {
  const ids = (await room.many('/api/books')).map(book => Number(book.id))
  t.deepEqual(
    ids,
    [...ids].sort((a, b) => a - b),
  )
})

const sorted = async (query: string) => namesIn(await room.many(`/api/books?${query}`), 'code')

test('sort accepts every syntax', async t => {
  const ways = [
    'sort=title:desc',
    'sort=title:DESC',
    'sort[0]=title:desc',
    'sort[]=title:desc',
    'sort[title]=desc',
    'sort[0][title]=desc',
    'sort=title:desc:more',
  ]
  for (const way of ways) t.deepEqual(await sorted(way), ['D4', 'C3', 'B2', 'A1'], way)
})

test('sort applies several keys in order', async t => {
  t.deepEqual(await sorted('sort=pages:desc,title'), ['C3', 'B2', 'D4', 'A1'])
  t.deepEqual(await sorted('sort[0]=pages&sort[1]=title:desc'), ['A1', 'D4', 'B2', 'C3'])
  t.deepEqual(await sorted('sort=pages&sort=title:desc'), ['A1', 'D4', 'B2', 'C3'])
})

test('text sorts by bytes, capitals first; absent values last ascending and first descending', async t => {
  t.deepEqual(await sorted('sort=title'), ['A1', 'B2', 'C3', 'D4'])
  t.deepEqual(await sorted('sort=slug'), ['A1', 'B2', 'C3', 'D4'])
  t.deepEqual((await sorted('sort=slug:desc')).at(-1), 'A1')
})

test('sort may cross relations and components', async t => {
  t.deepEqual(await sorted('sort=author.name,code:desc'), ['D4', 'A1', 'B2', 'C3'])
  t.deepEqual(await sorted('sort[author][name]=desc&sort[code]=asc'), ['C3', 'B2', 'A1', 'D4'])
  t.deepEqual((await sorted('sort=edition.format')).at(0), 'A1')
})

test('sort refuses an unknown direction and attributes that cannot be sorted by', async t => {
  t.is(await refused('sort=title:up'), 'Invalid order. order can only be one of asc|desc|ASC|DESC')
  for (const name of ['nothing', 'hidden', 'author', 'cover', 'pieces'])
    t.is(await refused(`sort=${name}`), `Invalid key ${name}`)
})
