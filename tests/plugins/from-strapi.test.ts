import { createHash, createHmac } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { resolve } from 'node:path'
import test, { type ExecutionContext } from 'ava'
import { parse } from 'yaml'
import type { TestApp } from '../../core/testing.ts'
import { temporaryFolder } from '../harness/folder.ts'
import { openTestApp } from '../harness/test-app.ts'

// Every file of docs/from-strapi.md and docs/recipes.md is part of one project. Each section has a check over HTTP.

const PROJECT = `
name: From Strapi
contentTypes:
  article:
    attributes:
      title: { type: string, required: true }
      rank: integer
      slug: string
      author: { type: relation, relation: manyToOne, target: author, inversedBy: articles }
      owner: { type: relation, relation: manyToOne, target: user }
  author: { attributes: { name: string, articles: { type: relation, relation: oneToMany, target: article, mappedBy: author } } }
  page: { draftAndPublish: true, attributes: { title: string } }
roles:
  public: { permissions: { article: [find, findOne, create, update], author: [find] } }
  authenticated: { permissions: { article: [find, delete] } }
apiTokens:
  publisher: { secret: a-token-that-publishes-the-pages-only, type: custom, permissions: { page: [publish] } }
`
const [SECRET, JOB_TOKEN] = ['a-secret-of-the-webhook', 'the-token-of-the-scheduler']

interface Section {
  readonly heading: string
  readonly ts: readonly string[]
  readonly js: readonly string[]
  readonly yaml: readonly string[]
}

function sectionsOf(page: string): readonly Section[] {
  const text = readFileSync(resolve(import.meta.dirname, '../../docs', page), 'utf8')
  return text
    .split(/^## /m)
    .slice(1)
    .map(section => {
      const blocks = (language: string) =>
        [...section.matchAll(new RegExp(`^\`\`\`${language}\\n([\\s\\S]*?)^\`\`\``, 'gm'))].map(
          ([, block = '']) => block,
        )
      return {
        heading: section.split('\n')[0] ?? '',
        ...{ ts: blocks('ts'), js: blocks('js'), yaml: blocks('yaml') },
      }
    })
    .filter(({ ts }) => ts.length > 0)
}

/** Writes all files of the sections, and project.yaml with the keys of all of them. */
function projectOf(t: ExecutionContext, sections: readonly Section[]): string {
  const folder = temporaryFolder()
  t.teardown(folder.remove)
  const project: Record<string, unknown> = parse(PROJECT)
  for (const yaml of sections.flatMap(section => section.yaml))
    for (const [key, value] of Object.entries<object>(parse(yaml))) {
      const before = project[key]
      project[key] = Array.isArray(value) || typeof before !== 'object' ? value : { ...before, ...value }
    }
  folder.write('project.yaml', JSON.stringify(project))
  for (const text of sections.flatMap(({ ts }) => ts)) {
    const [, file] = /^\/\/ (\S+)/.exec(text) ?? []
    t.truthy(file, `a block without the name of its file: ${text}`)
    folder.write(String(file), text)
  }
  return folder.path
}

interface Checked extends TestApp {
  readonly t: ExecutionContext
  /** The token of a signed-in user. */
  readonly jwt: string
  readonly received: readonly Received[]
  /** The documentId of the article with this title. */
  idOf(title: string): Promise<string>
  logged(text: string): boolean
}

interface Received {
  readonly body: string
  readonly signature: string
}

const data = (answer: { readonly body: unknown }) =>
  (answer.body as { readonly data: Readonly<Record<string, unknown>> }).data

const IDIOMS: Readonly<Record<string, (app: Checked) => Promise<void>>> = {
  'Query of a request': async ({ t, request }) => {
    t.like(await request('GET', '/api/articles?fields=title'), {
      status: 200,
      body: { data: [{ title: 'Three', author: { name: 'Jane' } }, { title: 'Two' }] },
    })
    t.like(await request('GET', '/api/articles?sort=titel'), {
      status: 400,
      body: { error: { message: 'Invalid key titel' } },
    })
  },
  'Controllers that wrap `super.find`': async ({ t, request }) => {
    const { body } = await request('GET', '/api/articles')
    t.like(body, { meta: { count: 2, pagination: { total: 2 } } })
  },
  'Routes of your own': async ({ t, request, idOf }) => {
    const answer = await request('POST', `/api/articles/${await idOf('Two')}/rank`, { body: { rank: 2 } })
    t.like(answer, { status: 200, body: { data: { title: 'Two', rank: 2 } } })
    t.like(await request('POST', '/api/articles/none/rank', { body: { rank: 2 } }), {
      status: 404,
      body: { error: { name: 'NotFoundError', message: 'There is no such article' } },
    })
  },
  'User of a request': async ({ t, request, jwt }) => {
    t.is((await request('GET', '/api/mine')).status, 403)
    t.like(await request('GET', '/api/mine', { token: jwt }), {
      status: 200,
      body: { data: [{ title: 'One' }], meta: { role: 'authenticated' } },
    })
  },
  'Status and headers': async ({ t, request }) => {
    const { status, headers, body } = await request('POST', '/api/queue')
    t.deepEqual([status, headers['x-queue'], body], [202, 'slow', { queued: true }])
  },
  "Results within the caller's permissions": async ({ t, request, jwt }) => {
    const answer = await request('GET', '/api/articles/slug/one')
    t.like(data(answer), { title: 'One', author: { name: 'Jane' } })
    t.false('owner' in data(answer))
    t.is((await request('GET', '/api/articles/slug/one', { token: jwt })).status, 403)
  },
  Documents: async ({ t, request }) => {
    t.like(await request('POST', '/api/articles/raise'), {
      status: 200,
      body: { count: 1, total: 3, first: { title: 'One', rank: 2 } },
    })
  },
  Relations: async ({ t, request, app, idOf }) => {
    const { documentId } = await app.documents('author').create({ data: { name: 'Ann' } })
    const { body } = await request('POST', `/api/authors/${documentId}/adopt/${await idOf('Three')}`)
    t.like(body, { name: 'Ann', articles: [{ title: 'Three' }] })
  },
  Publishing: async ({ t, request, app }) => {
    const { documentId } = await app.documents('page').create({ data: { title: 'About' } })
    const path = `/api/pages/${documentId}/publish`
    t.is((await request('POST', path)).status, 403)
    t.deepEqual((await request('POST', path, { token: 'a-token-that-publishes-the-pages-only' })).body, {
      published: 1,
    })
    t.is(await app.documents('page').count({ status: 'published' }), 1)
  },
  SQL: async ({ t, request }) => {
    const { body } = await request('GET', '/api/report')
    const { ranks, size } = body as { ranks: { rank: number; articles: unknown }[]; size: object }
    t.deepEqual(
      ranks.map(({ rank, articles }) => [rank, Number(articles)]),
      [
        [2, 2],
        [3, 1],
      ],
    )
    t.deepEqual(Object.values(size).map(Number), [3])
  },
  Transactions: async ({ t, request, app }) => {
    t.deepEqual((await request('POST', '/api/pairs', { body: { titles: ['Four', 'Five'] } })).body, {
      titles: ['Four', 'Five'],
    })
    const refused = await request('POST', '/api/pairs', { body: { titles: ['Six', 'Untitled'] } })
    t.is(refused.status, 400)
    t.is(await app.documents('article').count({ filters: { title: 'Six' } }), 0)
    await app.documents('article').deleteMany({ filters: { title: ['Four', 'Five'] } })
  },
  Lifecycles: async ({ t, request, idOf, settled, logged }) => {
    await request('PUT', `/api/articles/${await idOf('Two')}`, { body: { data: { title: 'Second' } } })
    await settled()
    t.true(logged('public renamed Two'))
    t.true(logged('was changed by public'))
  },
  'Values before a write': async ({ t, request }) => {
    const made = await request('POST', '/api/articles', { body: { data: { title: 'A new day' } } })
    t.like(data(made), { slug: 'a-new-day' })
    const refused = await request('POST', '/api/articles', { body: { data: { title: 'Untitled' } } })
    t.like(refused, { status: 400, body: { error: { message: 'The article needs a title of its own' } } })
  },
  'After a write': async ({ t, app, idOf, settled, logged }) => {
    const documentId = await idOf('A new day')
    await app.documents('article').delete({ documentId })
    await settled()
    t.true(logged('Removed from the index'))
    t.true(logged('A user has signed up'))
  },
  Errors: async ({ t, request }) => {
    t.like(await request('POST', '/api/orders', { body: {} }), {
      status: 400,
      body: { error: { name: 'BadRequestError', message: 'No title', details: { key: 'title' } } },
    })
    t.like(await request('POST', '/api/orders', { body: { title: 'a', isTaken: true } }), {
      status: 409,
      body: { error: { name: 'ConflictError', message: 'Sold out' } },
    })
  },
  'Cookies and headers': async ({ t, request }) => {
    t.deepEqual((await request('GET', '/api/none')).headers['set-cookie'], ['visited=1; Path=/'])
  },
  Policies: async ({ t, request, app, jwt, idOf }) => {
    const foreign = await request('DELETE', `/api/articles/${await idOf('Three')}`, { token: jwt })
    t.like(foreign, { status: 403, body: { error: { name: 'PolicyError' } } })
    t.is((await request('DELETE', `/api/articles/${await idOf('One')}`, { token: jwt })).status, 204)
    t.is(await app.documents('article').count(), 2)
  },
  'Configured policies': async ({ t, request }) => {
    const refused = await request('POST', '/api/articles', { body: { data: { title: 'High', rank: 10 } } })
    t.like(refused.body, {
      error: { name: 'PolicyError', message: 'The rank is too high', details: { most: 9 } },
    })
  },
  'Route middlewares': async ({ t, request }) => {
    t.is((await request('GET', '/api/authors')).headers['cache-control'], 'public, max-age=60')
  },
  Services: async ({ t, request }) => {
    t.like(data(await request('GET', '/api/top')), { title: 'Three' })
  },
  Bootstrap: async ({ t, request }) => {
    const { body } = await request('GET', '/api/authors?sort=id')
    t.like(body, { data: [{ name: 'The editors' }] })
  },
  GraphQL: async ({ t, graphql }) => {
    t.deepEqual(await graphql('{ topArticles(most: 1) { data { attributes { label } } } }'), {
      data: { topArticles: { data: [{ attributes: { label: 'Three (3)' } }] } },
    })
  },
  'Parts of GraphQL': async ({ t, graphql }) => {
    const { data: found } = await graphql('{ __schema { mutationType { fields { name } } } }')
    t.regex(JSON.stringify(found), /"createArticle"/)
    t.notRegex(JSON.stringify(found), /"createAuthor"/)
  },
  Mail: async ({ t, app, settled, mails }) => {
    await app.documents('article').create({ data: { title: 'News of today' } })
    await settled()
    t.true(mails.some(({ subject, text }) => subject === 'New article' && text === 'News of today'))
  },
  Routers: async ({ t, request }) => {
    t.deepEqual((await request('GET', '/api/shop/prices/Three')).body, { price: 3, found: 1 })
  },
}

const RECIPES: Readonly<Record<string, (app: Checked) => Promise<void>>> = {
  'Webhook sender': async ({ t, app, settled, received }) => {
    const { documentId } = await app.documents('article').create({ data: { title: 'Sent' } })
    await settled()
    const sent = received.map(({ body }) => JSON.parse(body))
    t.true(sent.some(({ event, entry }) => event === 'article.create' && entry?.documentId === documentId))
    for (const { body, signature } of received) t.is(signature, sign(body))
  },
  'Webhook receiver and signature verification': async ({ t, request, received, logged }) => {
    const { body = '', signature = '' } = received.find(sent => sent.body.includes('"Sent"')) ?? {}
    const send = (text: string, input: string) =>
      request('POST', '/api/hooks/articles', { body: text, headers: { 'x-signature': input } })
    t.is((await send(body, signature)).status, 204)
    t.true(logged('Received Sent'))
    for (const wrong of [
      '',
      'sha256=',
      signature.slice(0, -1),
      `${signature.slice(0, -1)}é`,
      sign(`${body} `),
    ])
      t.is((await send(body, wrong)).status, 401, wrong)
  },
  Sitemap: async ({ t, request }) => {
    const { headers, body } = await request('GET', '/api/sitemap.xml')
    t.regex(String(headers['content-type']), /^application\/xml/)
    t.regex(
      String(body),
      /<urlset [^>]+>.*<url><loc>https:\/\/www\.example\.com\/articles\/sent<\/loc><lastmod>\d/,
    )
  },
  'Cron by an external scheduler': async ({ t, request, app }) => {
    await app.documents('article').create({ data: { title: 'Old', rank: -1 } })
    t.is((await request('POST', '/api/jobs/cleanup')).status, 403)
    t.deepEqual((await request('POST', '/api/jobs/cleanup', { token: JOB_TOKEN })).body, { deleted: 1 })
  },
}

const sign = (body: string): string => `sha256=${createHmac('sha256', SECRET).update(body).digest('hex')}`

/** Starts a server that receives webhooks. */
async function openReceiver(t: ExecutionContext): Promise<readonly Received[]> {
  const received: Received[] = []
  const server = createServer(async (request, response) => {
    const chunks = await request.toArray()
    const signature = String(request.headers['x-signature'])
    received.push({ body: Buffer.concat(chunks).toString(), signature })
    response.end()
  })
  await new Promise<void>(done => server.listen(0, '127.0.0.1', done))
  t.teardown(() => server.close())
  const { port } = server.address() as AddressInfo
  setVariables(t, { WEBHOOK_URL: `http://127.0.0.1:${port}/`, WEBHOOK_SECRET: SECRET })
  return received
}

function setVariables(t: ExecutionContext, variables: Readonly<Record<string, string>>): void {
  for (const [name, value] of Object.entries(variables)) {
    process.env[name] = value
    t.teardown(() => delete process.env[name])
  }
}

async function seed({ app, request }: TestApp): Promise<string> {
  const { body } = await request('POST', '/api/auth/local/register', {
    body: { username: 'ann', email: 'ann@example.org', password: 'open-sesame-1' },
  })
  const { jwt, user } = body as { jwt: string; user: { id: number } }
  const author = await app.documents('author').create({ data: { name: 'Jane' } })
  for (const [title, rank] of [
    ['One', 1],
    ['Two', 2],
    ['Three', 3],
  ] as const)
    await app.documents('article').create({
      data: { title, rank, author: author.documentId, ...(title === 'One' && { owner: user.id }) },
    })
  return jwt
}

test('each idiom of docs/from-strapi.md and each recipe works as its page says', async t => {
  const idioms = sectionsOf('from-strapi.md')
  const recipes = sectionsOf('recipes.md')
  t.deepEqual(
    [idioms, recipes].map(sections => sections.map(({ heading }) => heading)),
    [Object.keys(IDIOMS), Object.keys(RECIPES)],
  )
  t.is(idioms.length, 25)
  for (const { heading, js } of idioms) if (heading !== 'Documents') t.true(js.length >= 1, heading)
  const received = await openReceiver(t)
  const hash = createHash('sha256').update(JOB_TOKEN).digest('hex')
  const opened = await openTestApp(t, {
    project: projectOf(t, [...idioms, ...recipes]),
    env: { SCHEDULER_TOKEN_HASH: `sha256:${hash}` },
  })
  const checked: Checked = {
    ...opened,
    ...{ t, received, jwt: await seed(opened) },
    idOf: async title =>
      (await opened.app.documents('article').findFirst({ filters: { title } }))?.documentId ?? '',
    logged: text => opened.log().some(line => line.includes(text)),
  }
  for (const [heading, check] of Object.entries({ ...IDIOMS, ...RECIPES })) {
    t.log(heading)
    await check(checked)
  }
})
