import test from 'ava'
import { type Body, errorOf, metaOf, openRoom, type Room, type Value } from './reading-room.ts'

// docs/rest.md, "Pages by cursor"
let room: Room
test.before(async () => {
  room = await openRoom()
})
test.after.always(() => room?.close())

interface Page {
  readonly ids: readonly Value[]
  readonly next: string | null
  readonly total: Value
}

async function pageOf(list: string, after: string, more = ''): Promise<Page> {
  const answer = await room.get(`${list}&pagination[after]=${after}${more}`)
  if (answer.status !== 200) throw new Error(`${list} ${after}: ${JSON.stringify(answer.body)}`)
  const { next, total } = metaOf(answer).pagination as Body
  const ids = (answer.body as { data: readonly Body[] }).data.map(({ id }) => id ?? null)
  return { ids, next: typeof next === 'string' ? next : null, total: total ?? null }
}

/** All pages, one behind the other; no more than ten. */
async function walk(list: string, size: number): Promise<readonly Page[]> {
  const pages: Page[] = []
  for (let after: string | null = ''; after !== null && pages.length < 40; after = pages.at(-1)?.next ?? null)
    pages.push(await pageOf(list, after, `&pagination[pageSize]=${size}`))
  return pages
}

const SORTS = [
  '',
  ...['title', 'subtitle', 'code', 'pages', 'weight', 'price', 'sold', 'day', 'opens', 'releasedAt', 'stamp'],
  ...['inPrint', 'kind', 'createdAt', 'updatedAt', 'publishedAt', 'locale', 'documentId', 'id'],
  ...['author.name', 'edition.format', 'pages,title', 'pages:desc,subtitle', 'subjects.name:desc,pages'],
].flatMap(sort => (sort === '' || sort.includes(',') ? [sort] : [sort, `${sort}:desc`]))

test('the pages of a cursor contain the whole list in order, for any sort', async t => {
  for (const sort of SORTS) {
    const list = `/api/books?status=draft&locale=*&sort=${sort}`
    const whole: (Value | undefined)[] = []
    for (const page of [1, 2, 3])
      whole.push(
        ...(await room.many(`${list}&pagination[page]=${page}&pagination[pageSize]=8`)).map(({ id }) => id),
      )
    for (const size of [1, 3]) {
      const pages = await walk(list, size)
      t.deepEqual(
        pages.flatMap(({ ids }) => ids),
        whole,
        `${sort} by ${size}`,
      )
      t.true(
        pages.every(({ total }) => total === whole.length),
        sort,
      )
      t.is(pages.length, Math.ceil(whole.length / size), `${sort}: no empty page comes last`)
    }
  }
})

test('a cursor returns the rows after it, even if rows before it changed meanwhile', async t => {
  const list = '/api/books?status=draft&sort=code'
  const first = await pageOf(list, '', '&pagination[pageSize]=2')
  const all = await pageOf(list, '', '&pagination[pageSize]=8')
  t.deepEqual((await pageOf(list, first.next ?? '')).ids, all.ids.slice(2))
  const gone = first.ids.map((id, index) => `&filters[id][$notIn][${index}]=${id}`).join('')
  const filtered = await pageOf(list + gone, first.next ?? '')
  t.deepEqual(filtered.ids, all.ids.slice(2))
})

test('cursors work with filters, populate, fields and the format of Strapi 4', async t => {
  const list = '/api/books?status=draft&sort=pages&filters[pages][$gte]=0&populate=author&fields=title'
  const pages = await walk(list, 2)
  const whole = (await room.many(list)).map(({ id }) => id)
  t.deepEqual(
    pages.flatMap(({ ids }) => ids),
    whole,
  )
  const v4 = await room.get(`${list}&pagination[after]=`, 'full', { 'strapi-response-format': 'v4' })
  t.true((v4.body as { data: readonly Body[] }).data.every(one => one.attributes !== undefined))
})

const FILTERS = [
  'filters[subjects][name][$notNull]=true',
  'filters[$not][subjects][name][$contains]=a',
  'filters[author][books][subjects][id][$gt]=0',
  'filters[sequels][id][$null]=true&populate=subjects',
]

test('filters by relation find the same documents with a cursor as in the whole list, sorted by id either way', async t => {
  for (const list of ['/api/books?status=draft&locale=*&', '/api/subjects?'])
    for (const filter of list.includes('books')
      ? FILTERS
      : ['filters[books][pages][$gte]=0', 'filters[books][id][$null]=true'])
      for (const sort of ['', '&sort=id', '&sort=id:desc']) {
        const asked = `${list}${filter}${sort}`
        const pages = await walk(asked, 2)
        const whole = await room.many(`${asked}&pagination[pageSize]=100`)
        t.deepEqual(
          pages.flatMap(({ ids }) => ids),
          whole.map(({ id }) => id),
          asked,
        )
      }
})

test('an empty list has no next page, and the total is omitted on demand', async t => {
  const none = await room.get('/api/books?filters[code]=none&pagination[after]=')
  t.deepEqual(none.body, { data: [], meta: { pagination: { pageSize: 5, next: null, total: 0 } } })
  const { pagination } = metaOf(await room.get('/api/books?pagination[after]=&pagination[withCount]=false'))
  t.deepEqual(Object.keys(pagination as Body), ['pageSize', 'next'])
})

test('cursor pagination returns only documents visible to the caller', async t => {
  const seen: (Value | undefined)[] = []
  let after: unknown = ''
  while (typeof after === 'string' && seen.length < 20) {
    const answer = await room.get(
      `/api/books?sort=pages&pagination[pageSize]=1&pagination[after]=${after}`,
      'guarded',
    )
    seen.push(...(answer.body as { data: readonly Body[] }).data.map(({ pages }) => pages))
    after = (metaOf(answer).pagination as Body).next
  }
  t.true(seen.length > 0 && seen.every(pages => Number(pages) < 200))
  const hidden = await room.get('/api/books?sort=code&pagination[after]=', 'guarded')
  t.is(hidden.status, 400)
})

test('a cursor allows at most ten sort attributes, which bounds its cost', async t => {
  const names = ['code', 'title', 'pages', 'createdAt', 'updatedAt', 'documentId']
  const sorts = ['desc', 'asc'].flatMap(order => names.map(name => `${name}:${order}`))
  const many = (count: number) => `sort=${sorts.slice(0, count).join()}`
  for (const after of ['', 'x']) {
    const answer = await room.get(`/api/books?${many(11)}&pagination[after]=${after}`)
    t.is(answer.status, 400)
    t.regex(String(errorOf(answer).message), /sorted by 10 attributes at most/)
  }
  const list = `/api/books?status=draft&${many(10)}`
  const pages = await walk(list, 3)
  t.deepEqual(
    pages.flatMap(({ ids }) => ids),
    (await room.many(list)).map(({ id }) => id),
  )
})

test('an invalid cursor, or one of another sort, is refused with what is expected', async t => {
  const { next } = await pageOf('/api/books?sort=code', '', '&pagination[pageSize]=1')
  const refused = async (query: string) => {
    const answer = await room.get(`/api/books?${query}`)
    t.is(answer.status, 400, query)
    return String(errorOf(answer).message)
  }
  t.regex(await refused(`sort=pages&pagination[after]=${next}`), /another list, or of another sort/)
  t.regex(await refused(`sort=code:desc&pagination[after]=${next}`), /another list, or of another sort/)
  const [order] = JSON.parse(Buffer.from(next ?? '', 'base64url').toString()) as [string]
  const forged = (...held: readonly unknown[]) => Buffer.from(JSON.stringify(held)).toString('base64url')
  for (const bad of [
    'x',
    forged(order, ['A1']),
    forged(order, [{ $gt: 1 }], 1),
    forged(order, [], 1),
    forged(order, ['A1', 'B2'], 1),
    forged(order, ['A\0'], 1),
    forged(order, ['A1'], 1.5),
    forged(order, ['A1'], '1; DROP TABLE books'),
    forged(order, ['A1'], 1e12),
    '%00',
    'a'.repeat(3000),
  ])
    t.regex(
      await refused(`sort=code&pagination[after]=${bad}`),
      /^Invalid pagination\[after\]: this is no cursor/,
    )
  t.regex(await refused('sort=meta&pagination[after]='), /sorted by JSON/)
  t.regex(await refused('pagination[after][a]=1'), /expected one text/)
  t.regex(
    await refused('pagination[after]=&pagination[page]=2'),
    /pagination\[after\] and pagination\[page\]/,
  )
  t.regex(
    await refused('pagination[after]=&pagination[start]=2'),
    /pagination\[after\] and pagination\[start\]/,
  )
})
