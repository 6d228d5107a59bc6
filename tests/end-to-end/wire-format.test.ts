import test from 'ava'
import { type Body, errorOf, openRoom, type Room, type Value } from './reading-room.ts'

// reference/rest.md#16-response-format-v4-and-query-parsing
let room: Room
test.before(async () => {
  room = await openRoom()
})
test.after.always(() => room?.close())

const v4 = { 'strapi-response-format': 'v4' }

async function old(path: string): Promise<Value> {
  return ((await room.get(path, 'full', v4)).body as { data: Value }).data
}

test('the header for the format of Strapi 4 nests attributes in attributes', async t => {
  const book = (await old('/api/books/ember?fields=title')) as Body
  t.deepEqual(Object.keys(book).sort(), ['attributes', 'documentId', 'id'])
  t.deepEqual(book.attributes, { title: 'Ember' })
  const [first] = (await old('/api/books?fields=title&sort=title')) as readonly Body[]
  t.deepEqual(first?.attributes, { title: 'Ember' })
})

test('in the format of Strapi 4 relations and media are wrapped in data, components and zones stay flat', async t => {
  const { attributes } = (await old('/api/books/ember?populate=*')) as { attributes: Body }
  t.is(((attributes.author as Body).data as { attributes: Body }).attributes.name, 'Ada')
  const subjects = (attributes.subjects as { data: readonly { attributes: Body }[] }).data
  t.deepEqual(
    subjects.map(subject => subject.attributes.name),
    ['Night', 'Fire'],
  )
  t.is(((attributes.cover as Body).data as { attributes: Body }).attributes.name, 'cover.png')
  t.is((attributes.edition as Body).format, 'hardback')
  t.is((attributes.pieces as readonly Body[])[0]?.__component, 'parts.note')
  const glass = (await old('/api/books/glass?populate=author')) as { attributes: Body }
  t.deepEqual(glass.attributes.author, { data: null })
})

test('in the format of Strapi 4 a count is an attribute, and errors and meta are unchanged', async t => {
  const { attributes } = (await old('/api/books/ember?populate[subjects][count]=true')) as {
    attributes: Body
  }
  t.deepEqual(attributes.subjects, { data: { attributes: { count: 2 } } })
  const answer = await room.get('/api/books/nothing', 'full', v4)
  t.is(errorOf(answer).name, 'NotFoundError')
})

test('any other value of the header is ignored', async t => {
  for (const value of ['V4', 'v5', '4']) {
    const { body } = await room.get('/api/books/ember', 'full', { 'strapi-response-format': value })
    t.is((body as { data: Body }).data.title, 'Ember')
  }
})

test('percent-encoded brackets are brackets', async t => {
  t.deepEqual(await room.codes('filters%5Btitle%5D%5B%24eq%5D=Ember'), ['A1'])
})

test('a plus is a space, and an invalid percent sequence in a value is literal', async t => {
  t.deepEqual(await room.codes('filters[subtitle]=Hello+World'), ['A1'])
  t.deepEqual(await room.codes('filters[subtitle][$contains]=50%'), ['C3'])
})

test('unknown parameters are ignored, but lookup is refused', async t => {
  t.is((await room.get('/api/books?nothing=1&publicationState=preview')).status, 200)
  t.is(errorOf(await room.get('/api/books?lookup=1')).message, "Invalid params: 'lookup'")
})

test('names of built-in object properties reveal nothing', async t => {
  t.is((await room.get('/api/books?filters[__proto__][title]=x')).status, 200)
  for (const query of [
    'sort=__proto__',
    'sort=constructor',
    'populate=constructor',
    'populate=__proto__',
    'fields=toString',
  ]) {
    t.is((await room.get(`/api/books?${query}`)).status, 400, query)
  }
})

test('a query that is nested too deep is refused', async t => {
  const deep = Array.from({ length: 30 }, () => '[$not]').join('')
  t.is((await room.get(`/api/books?filters${deep}[title]=x`)).status, 400)
})

test('no hostile query causes a server error', async t => {
  const hostile = [
    "filters[title]='; DROP TABLE books; --",
    'filters[title][$eq][a]=1',
    'filters[$and]=1',
    'filters[0]=1',
    'filters[id]=99999999999999999999',
    'filters[pages]=1e999',
    'filters[day]=99999-01-01',
    'sort[a][b][c]=1',
    "sort=title'--",
    'sort=t1.title',
    'populate[author][populate][books][populate][author][populate][books][populate]=author',
    'populate=a.b.c.d.e.f.g.h.i.j.k.l.m.n.o.p',
    'fields[0][1]=x',
    '_q[0]=x&_q[1]=y',
    '_q=%00',
    'locale=%00',
    "locale=en'--",
    'pagination[page]=99999999999999999999',
    'pagination[start]=-1&pagination[limit]=-1',
    'filters[author][id]=x',
    'filters[title]=%ED%A0%80',
  ]
  for (const query of hostile) {
    const { status } = await room.get(`/api/books?${query}`)
    t.true(status < 500, `${status} ${query}`)
  }
})
