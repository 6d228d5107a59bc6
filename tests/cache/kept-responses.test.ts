import anyTest, { type TestFn } from 'ava'
import { FULL, openTwoApps, type TwoApps } from './two-apps.ts'

// Which writes leave which cached responses as they are (docs/caching.md, Writes that leave responses as they are).

const PROJECT = `
name: Kept responses
server: { rateLimit: { api: false, auth: false } }
contentTypes:
  shelf:
    attributes:
      name: string
      notes: { type: relation, relation: oneToMany, target: note, mappedBy: shelf }
  note:
    attributes:
      title: string
      rating: integer
      body: text
      shelf: { type: relation, relation: manyToOne, target: shelf, inversedBy: notes }
apiTokens: { full: { type: full-access, secret: ${FULL} } }
`

const test = anyTest as TestFn<TwoApps>

test.before(async t => {
  t.context = await openTwoApps(PROJECT)
  const { plain } = t.context
  const shelf = await plain.data('POST', '/api/shelves', { name: 'first' })
  for (const title of ['a', 'b', 'c', 'd'])
    await plain.data('POST', '/api/notes', { title, rating: 1, shelf: shelf.documentId })
  await t.context.database.run({ text: 'UPDATE notes SET document_id = title', values: [] })
})

test.after.always(t => t.context.close())

const LIST = '/api/notes?sort=title&pagination[withCount]=false&pagination[pageSize]=2'

type Case = readonly [path: string, write: string, isKept: boolean]

const set = (change: string, title: string): string => `UPDATE notes SET ${change} WHERE title = '${title}'`
const insert = (title: string): string =>
  `INSERT INTO notes (document_id, title, created_at, updated_at, published_at) VALUES ('${title}', '${title}', now(), now(), now())`

const CASES: readonly Case[] = [
  ['/api/notes/a', set(`body = 'new'`, 'b'), true],
  ['/api/notes/a', set(`body = 'newer'`, 'a'), false],
  ['/api/notes/a?fields=title', set(`body = 'newest'`, 'a'), true],
  ['/api/notes/a', insert('e'), true],
  ['/api/notes/a', `DELETE FROM notes WHERE title = 'e'`, true],
  ['/api/notes/a', set(`document_id = 'x'`, 'd'), false],
  [LIST, set('rating = 2', 'c'), true],
  [LIST, set('rating = 2', 'b'), false],
  [LIST, set(`title = 'aa'`, 'c'), false],
  [LIST, insert('f'), false],
  [LIST, `DELETE FROM notes WHERE title = 'f'`, true],
  [`${LIST}&pagination[page]=2`, insert('0'), false],
  [`${LIST}&pagination[page]=2`, `DELETE FROM notes WHERE title = '0'`, false],
  ['/api/notes?sort=title&pagination[pageSize]=2', set('rating = 3', 'd'), true],
  ['/api/notes?sort=title&pagination[pageSize]=2', `DELETE FROM notes WHERE title = 'd'`, false],
  [`${LIST}&filters[rating]=3`, set('rating = 3', 'b'), false],
  [`${LIST}&filters[rating]=3`, set(`body = 'any'`, 'a'), true],
  ['/api/notes/a?populate=shelf', set('rating = 4', 'b'), true],
  ['/api/notes/a?populate=shelf', `UPDATE shelves SET name = 'second'`, false],
  ['/api/notes/a?populate[shelf][populate]=notes', set('rating = 5', 'b'), false],
  ['/api/shelves?populate[notes][fields]=title', set('rating = 6', 'b'), true],
  ['/api/shelves?populate[notes][fields]=title', set(`title = 'bb'`, 'b'), false],
  [
    '/graphql?query={notes(sort:"title",pagination:{limit:1}){data{attributes{title,rating}}}}',
    set('rating = 7', 'bb'),
    true,
  ],
  [
    '/graphql?query={notes(sort:"title",pagination:{limit:1}){data{attributes{title,rating}}}}',
    set('rating = 7', 'a'),
    false,
  ],
  [LIST, 'TRUNCATE notes CASCADE', false],
]

test('a response is kept exactly if the write cannot have touched it', async t => {
  const { cached, plain, database } = t.context
  const ask = (site: typeof plain, path: string) => site.ask('GET', path, { as: FULL })
  const sql = (text: string) => database.run({ text, values: [] })
  for (const [path, write, isKept] of CASES) {
    // From the first write on, changes are known.
    for (let time = 0; time < 2; time++) await ask(cached, path)
    await sql('UPDATE shelves SET name = name')
    await sql('UPDATE notes SET title = title')
    for (let time = 0; time < 2; time++) await ask(cached, path)
    await sql(write)
    const right = await ask(plain, path)
    cached.statements()
    const found = await ask(cached, path)
    const what = `${path} after ${write}`
    t.is(found.text, right.text, what)
    t.is(
      cached.statements().every(statement => statement === 'prove an answer'),
      isKept,
      what,
    )
  }
})
