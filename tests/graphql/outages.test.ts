import test from 'ava'
import { openEndpoint } from './endpoint.ts'

const project = (nested: boolean) => `
contentTypes:
  book: { attributes: { title: string } }
  pen: { attributes: { colour: string } }
roles:
  public: { permissions: { book: [find], pen: [find] } }
graphql: { config: { v4CompatibilityMode: ${nested} } }
`

/** Each read of the books is counted and ends as if it had been cancelled. */
const CANCELLED = [
  'CREATE SEQUENCE reads',
  "SELECT nextval('reads')",
  `CREATE FUNCTION cancel() RETURNS boolean LANGUAGE plpgsql AS $$
  BEGIN
    PERFORM nextval('reads');
    RAISE EXCEPTION USING ERRCODE = '57014', MESSAGE = 'canceling statement due to statement timeout';
  END $$`,
  'ALTER TABLE books RENAME TO stored_books',
  'CREATE VIEW books AS SELECT * FROM stored_books WHERE cancel()',
]

for (const nested of [true, false])
  test(`a read that the database cancels runs once (${nested ? 'nested' : 'flat'})`, async t => {
    const { create, post, database, troubles } = await openEndpoint(t, project(nested))
    await create('book', { title: 'Solaris' })
    await create('pen', { colour: 'red' })
    for (const text of CANCELLED) await database.run({ text, values: [] })
    const [books, pens] = nested
      ? ['books { data { attributes { title } } }', 'pens { data { attributes { colour } } }']
      : ['books { title }', 'pens { colour }']
    const reads = async () =>
      (await database.run({ text: 'SELECT last_value::int FROM reads', values: [] })).rows
    for (const [query, data] of [
      [`{ ${books} }`, { books: null }],
      [`{ ${books} ${pens} }`, { books: null, pens: { data: [{ attributes: { colour: 'red' } }] } }],
      [`{ ${books} __typename }`, { books: null, __typename: 'Query' }],
    ] as const) {
      const before = Number((await reads())[0]?.[0])
      const { status, body } = await post({ query })
      t.is(status, 200)
      t.is(body.errors.length, 1)
      t.is(body.errors[0].message, 'The database did not answer in time')
      t.deepEqual(body.errors[0].path, nested ? undefined : ['books'])
      // Lists may not be null in the flat format.
      t.deepEqual(body.data, nested ? data : null, query)
      t.is(Number((await reads())[0]?.[0]) - before, 1, query)
    }
    t.deepEqual(
      troubles.map(each => (each as { kind: string }).kind),
      ['unavailable', 'unavailable', 'unavailable'],
    )
  })
