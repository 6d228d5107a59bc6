import test from 'ava'
import { openTestApp } from '../harness/test-app.ts'

const PROJECT = {
  contentTypes: { book: { attributes: { title: 'string', hidden: 'boolean' } } },
  rest: { withCount: 'estimate' },
  roles: { public: { permissions: { book: { find: { where: { hidden: { $eq: false } } } } } } },
} as const

test('an estimated total counts 10,000 documents at most, and only those that the caller may read', async t => {
  const app = await openTestApp(t, { project: PROJECT })
  const fill = (from: number, to: number, hidden: boolean) =>
    app.app.sequelize.query(
      `INSERT INTO books (document_id, title, hidden, created_at, updated_at, published_at)
       SELECT 'book-' || n, 'Book', ${hidden}, now(), now(), now() FROM generate_series(${from}, ${to}) AS n`,
    )
  const pagination = async (search: string) => {
    const { status, body } = await app.request('GET', `/api/books?${search}`)
    t.is(status, 200, JSON.stringify(body))
    return (body as { meta: { pagination: unknown } }).meta.pagination
  }
  await fill(1, 20_000, true)
  await fill(20_001, 30_000, false)
  const page = { page: 1, pageSize: 25, pageCount: 400, total: 10_000 }
  t.deepEqual(await pagination(''), { ...page, totalIsExact: true })
  await fill(30_001, 30_002, false)
  t.deepEqual(await pagination(''), { ...page, totalIsExact: false })
  t.deepEqual(await pagination('pagination[withCount]=true'), { ...page, pageCount: 401, total: 10_002 })
  t.deepEqual(await pagination('pagination[after]=&pagination[pageSize]=1&fields=id'), {
    ...{ pageSize: 1, next: await nextOf(), total: 10_000, totalIsExact: false },
  })
  t.deepEqual(await pagination('filters[documentId]=book-20001'), {
    ...{ page: 1, pageSize: 25, pageCount: 1, total: 1, totalIsExact: true },
  })

  async function nextOf(): Promise<unknown> {
    const found = await pagination('pagination[after]=&pagination[pageSize]=1&pagination[withCount]=false')
    return (found as { next: unknown }).next
  }
})
