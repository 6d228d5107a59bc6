import test from 'ava'
import { compileApp } from '../../core/app/compile-app.ts'
import { openRequestProbe, type RequestProbe } from '../../core/app/request-probe.ts'
import type { ProbedAnswer } from '../../core/console/simulation.ts'
import { callerOf } from '../../core/explain/answer.ts'
import type { TestAnswer, TestApp } from '../../core/testing.ts'
import { temporaryFolder } from '../harness/folder.ts'
import { openTestApp, teardownOfFile } from '../harness/test-app.ts'

// `plinth roles explain --request` and the server agree: the same random requests go to both, for random permissions.
// EXPLAIN_ROUNDS asks for more holders of permissions, EXPLAIN_SEED for others.

const HOLDERS = Number(process.env.EXPLAIN_ROUNDS ?? 24)
const random = openRandom(Number(process.env.EXPLAIN_SEED ?? 1))

function openRandom(seed: number) {
  let state = seed
  const next = (): number => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0
    return state / 2 ** 32
  }
  return {
    chance: (share: number) => next() < share,
    one: <Item>(items: readonly Item[]): Item => items[Math.floor(next() * items.length)] as Item,
  }
}

const SUBJECTS: Readonly<Record<string, readonly string[]>> = {
  article: ['find', 'findOne', 'create', 'update', 'delete', 'publish', 'readDrafts'],
  author: ['find', 'findOne', 'create', 'update', 'delete'],
  home: ['find', 'update', 'delete'],
  users: ['find', 'findOne', 'count', 'me', 'create', 'update', 'delete'],
  upload: ['find', 'findOne', 'upload', 'update', 'delete'],
  role: ['find', 'findOne'],
  i18n: ['find'],
}

const FIELDS: Readonly<Record<string, readonly string[]>> = {
  article: ['title', 'text', 'author', 'cover'],
  author: ['name', 'mail'],
  home: ['heading'],
}

function randomPermissions(): Readonly<Record<string, unknown>> {
  const subjects = Object.entries(SUBJECTS).filter(() => random.chance(0.6))
  return Object.fromEntries(
    subjects.map(([subject, actions]) => {
      if (random.chance(0.15)) return [subject, '*']
      const granted = actions.filter(() => random.chance(0.5))
      return [subject, Object.fromEntries(granted.map(action => [action, randomOptions(subject, action)]))]
    }),
  )
}

const WITH_FIELDS = ['find', 'findOne', 'create', 'update']

function randomOptions(subject: string, action: string): unknown {
  const names = FIELDS[subject]
  if (!names || !WITH_FIELDS.includes(action) || random.chance(0.6)) return true
  return { fields: names.filter((_, at) => at === 0 || random.chance(0.5)) }
}

const names = Array.from({ length: HOLDERS }, (_, at) => `holder${at}`)
const secretOf = (name: string): string => `a-secret-of-forty-letters-of-${name}-0123456789`

const PROJECT = {
  name: 'Explained',
  server: { rateLimit: { api: false, auth: false, account: false } },
  contentTypes: {
    article: {
      draftAndPublish: true,
      attributes: {
        title: 'string',
        text: 'text',
        hidden: { type: 'string', private: true },
        author: { type: 'relation', relation: 'manyToOne', target: 'author', inversedBy: 'articles' },
        cover: { type: 'media', multiple: false },
      },
    },
    author: {
      attributes: {
        name: 'string',
        mail: 'string',
        articles: { type: 'relation', relation: 'oneToMany', target: 'article', mappedBy: 'author' },
      },
    },
    home: { kind: 'single', attributes: { heading: 'string' } },
  },
  roles: { public: { permissions: randomPermissions() } },
  routesConfig: {
    'author.find': { auth: false },
    'author.findOne': { auth: { scope: ['api::article.article.find'] } },
  },
  apiTokens: Object.fromEntries(
    names.map(name => [name, { type: 'custom', secret: secretOf(name), permissions: randomPermissions() }]),
  ),
}

interface PlanRequest {
  readonly method: string
  readonly path: string
  readonly body?: unknown
}

const QUERIES = [
  '',
  '?populate=*',
  '?populate[author][fields][0]=name',
  '?populate[articles][filters][title]=x',
  '?populate=cover',
  '?filters[title][$eq]=x',
  '?filters[hidden]=x',
  '?filters[author][mail][$contains]=x',
  '?filters[articles][author][name]=x',
  '?sort=text',
  '?sort=author.name',
  '?fields=text',
  '?fields=unknown',
  '?status=draft',
  '?pagination[page]=x',
]

const BODIES = [
  { title: 'a' },
  { title: 'a', text: 'b' },
  { hidden: 'x' },
  { author: null },
  { cover: null },
  { name: 'a' },
  { name: 'a', mail: 'b' },
  { heading: 'a' },
  { unknown: 1 },
  {},
]

const GRAPHQL = [
  '{ articles { data { id attributes { title } } } }',
  '{ articles(filters: { author: { mail: { eq: "x" } } }) { data { id } } }',
  '{ articles { data { attributes { author { data { attributes { name } } } } } } }',
  '{ authors { data { attributes { mail } } } }',
  '{ home { data { attributes { heading } } } }',
  '{ me { id } }',
  '{ uploadFiles { data { id } } }',
  'mutation { createArticle(data: { title: "a" }) { data { id } } }',
  'mutation { updateHome(data: { heading: "a" }) { data { id } } }',
  'mutation { deleteAuthor(id: 1) { data { id } } }',
]

const NOTHING = 'aaaaaaaaaaaaaaaaaaaaaaaa'

function randomRequest(): PlanRequest {
  if (random.chance(0.15)) return { method: 'POST', path: '/graphql', body: { query: random.one(GRAPHQL) } }
  const place = random.one([
    '/api/articles',
    '/api/authors',
    '/api/home',
    `/api/articles/${NOTHING}`,
    `/api/authors/${NOTHING}`,
    '/api/users',
    '/api/users/count',
    '/api/users/me',
    '/api/users/999',
    '/api/upload/files',
    '/api/upload/files/999',
    '/api/users-permissions/roles',
    '/api/users-permissions/roles/1',
    '/api/i18n/locales',
    '/api/nowhere',
  ])
  const method = random.one(['GET', 'GET', 'GET', 'POST', 'PUT', 'DELETE'])
  if (method === 'GET' || method === 'DELETE') return { method, path: place + random.one(QUERIES) }
  const values = random.one(BODIES)
  return { method, path: place, body: place.startsWith('/api/users') ? values : { data: values } }
}

let app: TestApp
let probe: RequestProbe
let callers: ReadonlyMap<string, ReturnType<typeof callerOf>>

const file = teardownOfFile(test.after.always)

test.before(async () => {
  app = await openTestApp(file, { project: PROJECT })
  const folder = temporaryFolder()
  file.teardown(folder.remove)
  folder.write('project.yaml', JSON.stringify(PROJECT))
  const compiled = await compileApp(folder.path, {})
  if (!compiled.ok) throw new Error(JSON.stringify(compiled.reasons))
  const opened = await openRequestProbe(compiled.value)
  if (!opened.ok) throw new Error(JSON.stringify(opened.reasons))
  probe = opened.value
  const { access } = compiled.value
  const token = (key: string) => callerOf({ holder: { kind: 'token', key }, user: null }, access)
  callers = new Map([['public', access.publicCaller], ...names.map(name => [name, token(name)] as const)])
})

/** Denied by the server, in REST or in GraphQL. */
function isDenied({ status, body }: TestAnswer): boolean {
  const { errors = [] } = (body ?? {}) as { errors?: { extensions?: { error?: { name?: string } } }[] }
  const denials = ['ForbiddenError', 'UnauthorizedError']
  return (
    status === 401 ||
    status === 403 ||
    errors.some(({ extensions }) => denials.includes(extensions?.error?.name ?? ''))
  )
}

async function compare(who: string, asked: PlanRequest): Promise<string | null> {
  const { method, path, body } = asked
  const caller = callers.get(who)
  if (!caller) throw new TypeError(who)
  const text = body === undefined ? null : Buffer.from(JSON.stringify(body))
  const probed = await probe.ask(
    { method, path, headers: text ? { 'content-type': 'application/json' } : {}, body: text },
    caller,
  )
  const answer = await app.request(method, path, {
    ...(body !== undefined && { body }),
    ...(who !== 'public' && { token: secretOf(who) }),
  })
  return agrees(probed, answer)
    ? null
    : JSON.stringify({ who, asked, probed, answer: [answer.status, answer.body] })
}

/** A request that passed may still fail for what the database contains: 404, or 400 for a value. */
function agrees(probed: ProbedAnswer, answer: TestAnswer): boolean {
  if (probed.outcome === 'denied') return isDenied(answer)
  // The error of a withheld relation appears only if a document is answered.
  if (probed.outcome === 'passed')
    return !isDenied(answer) || (answer.status === 200 && probed.withheld.length > 0)
  return !isDenied(answer) && (answer.status === probed.status || answer.status === 200)
}

test('an explained request is denied exactly if the server denies it', async t => {
  const differing: string[] = []
  for (const who of ['public', ...names])
    for (let round = 0; round < 34; round++) {
      const asked = randomRequest()
      const difference = await compare(who, asked)
      if (difference !== null) differing.push(difference)
    }
  t.log(`${(HOLDERS + 1) * 34} requests, ${differing.length} differ`)
  t.deepEqual(differing.slice(0, 5), [])
})

test('views of the console and sign-in at providers are explained as the server answers them', async t => {
  const project = {
    name: 'Views',
    contentTypes: { note: { attributes: { text: 'string' } } },
    auth: {
      providers: {
        company: {
          issuer: 'http://127.0.0.1:1',
          clientId: 'notes',
          clientSecret: 'a-secret',
          redirectUrls: ['https://www.example.com/in'],
        },
      },
    },
    roles: { maintainer: { console: ['model', 'permissions'] }, writer: {} },
    apiTokens: { site: { type: 'full-access', secret: secretOf('site') } },
  }
  const folder = temporaryFolder()
  t.teardown(folder.remove)
  folder.write('project.yaml', JSON.stringify(project))
  const compiled = await compileApp(folder.path, {})
  if (!compiled.ok) throw new Error(JSON.stringify(compiled.reasons))
  const views = await openRequestProbe(compiled.value)
  if (!views.ok) throw new Error(JSON.stringify(views.reasons))
  const { access } = compiled.value
  const ask = async (path: string, kind: 'role' | 'token', key: string) => {
    const caller =
      key === 'public' ? access.publicCaller : callerOf({ holder: { kind, key }, user: null }, access)
    const { outcome, status } = await views.value.ask(
      { method: 'GET', path, headers: {}, body: null },
      caller,
    )
    return `${outcome} ${status}`
  }
  t.is(await ask('/api/console/model', 'role', 'maintainer'), 'passed 200')
  t.is(await ask('/api/console/permissions?role=writer', 'role', 'maintainer'), 'passed 200')
  t.is(await ask('/api/console/explain?user=ann&method=GET&path=/', 'role', 'maintainer'), 'passed null')
  t.is(await ask('/api/console/operations', 'role', 'maintainer'), 'denied 403')
  t.is(await ask('/api/console/model', 'role', 'writer'), 'denied 403')
  t.is(await ask('/api/console/model', 'token', 'site'), 'denied 403')
  t.is(await ask('/api/console/model', 'role', 'public'), 'denied 401')
  t.is(await ask('/api/connect/company', 'role', 'public'), 'passed null')
  t.is(await ask('/api/auth/company/callback?access_token=x', 'role', 'public'), 'passed null')
  t.is(await ask('/api/connect/nothing', 'role', 'public'), 'refused 404')
})
