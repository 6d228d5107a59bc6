import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import test from 'ava'
import { temporaryFolder } from '../harness/folder.ts'
import { openTestApp } from '../harness/test-app.ts'

const PROJECT = `
name: From Strapi
contentTypes:
  article:
    attributes:
      title: string
      rank: integer
      slug: string
      author: { type: relation, relation: manyToOne, target: author, inversedBy: articles }
  author: { attributes: { name: string, articles: { type: relation, relation: oneToMany, target: article, mappedBy: author } } }
roles: { public: { permissions: { article: [find, findOne, update], author: [find] } } }
`

interface Block {
  readonly language: string
  readonly text: string
}

const blocksOf = (page: string): readonly Block[] =>
  [...page.matchAll(/^```(\w+)\n([\s\S]*?)^```/gm)].map(([, language = '', text = '']) => ({
    language,
    text,
  }))

test('the code in docs/from-strapi.md works as the page says', async t => {
  const page = readFileSync(resolve(import.meta.dirname, '../../docs/from-strapi.md'), 'utf8')
  const blocks = blocksOf(page)
  const folder = temporaryFolder()
  t.teardown(folder.remove)
  const files = blocks.filter(({ language }) => language === 'ts')
  t.true(files.length >= 6)
  for (const { text } of files) folder.write(/^\/\/ (\S+)/.exec(text)?.[1] ?? '', text)
  const yaml = blocks.filter(({ language }) => language === 'yaml').map(({ text }) => text)
  folder.write('project.yaml', PROJECT + yaml.join(''))
  const { app, request, settled, log } = await openTestApp(t, { project: folder.path })
  const author = await app.documents('author').create({ data: { name: 'Jane' } })
  for (const [title, rank] of [
    ['One', 1],
    ['Two', 2],
    ['Three', 3],
  ] as const)
    await app.documents('article').create({
      data: { title, rank, slug: title.toLowerCase(), author: author.documentId },
    })

  const found = await request('GET', '/api/articles?fields=title')
  t.like(found, {
    status: 200,
    body: {
      data: [
        { title: 'Three', author: { name: 'Jane' } },
        { title: 'Two', author: { name: 'Jane' } },
      ],
      meta: { count: 2, pagination: { total: 2 } },
    },
  })
  t.deepEqual(found.headers['set-cookie'], ['visited=1; Path=/'])
  t.like(await request('GET', '/api/articles/slug/one'), { body: { data: { title: 'One' } } })
  t.like(await request('GET', '/api/articles?sort=titel'), {
    status: 400,
    body: { error: { message: 'Invalid key titel' } },
  })
  t.like(await request('POST', '/api/articles/raise'), {
    status: 200,
    body: { count: 1, total: 3, first: { title: 'One', rank: 2 } },
  })
  const [one] = await app.documents('article').findMany({ filters: { title: 'One' } })
  await request('PUT', `/api/articles/${one?.documentId}`, { body: { data: { title: 'First' } } })
  await settled()
  t.true(log().some(line => line.includes('public renamed One') && line.includes('"article"')))
  t.true(log().some(line => line.includes('was changed by public')))
  t.like(await request('POST', '/api/orders', { body: {} }), {
    status: 400,
    body: { error: { name: 'BadRequestError', message: 'No title', details: { key: 'title' } } },
  })
  t.like(await request('POST', '/api/orders', { body: { title: 'a', isTaken: true } }), {
    status: 409,
    body: { error: { name: 'ConflictError', message: 'Sold out' } },
  })
})
