import type { Random } from '../end-to-end/fuzz.ts'
import { below, pick } from './random.ts'
import { POSTS, TAGS, word } from './twin-project.ts'
import type { Question } from './twin-questions.ts'

type Body = Record<string, unknown>

const NAMES = { post: [...POSTS, 'nothing'], tag: [...TAGS, 'nothing'] }

function name(random: Random, target: 'post' | 'tag'): unknown {
  const documentId = pick(random, NAMES[target])
  const dice = random()
  if (dice < 0.6) return documentId
  if (dice < 0.7) return { documentId, ...(target === 'post' && random() < 0.4 ? { locale: 'fr' } : {}) }
  if (dice < 0.8) return { documentId, status: pick(random, ['draft', 'published']) }
  return { id: pick(random, [1, 2, 3, 4, 5, 6, 8, 12, 16, 30, 999]) }
}

function item(random: Random, target: 'post' | 'tag'): unknown {
  const documentId = pick(random, NAMES[target])
  const other = name(random, target)
  return random() < 0.5
    ? name(random, target)
    : {
        documentId,
        position: pick<Body>(random, [{ start: true }, { end: true }, { before: other }, { after: other }]),
      }
}

const listOf = (random: Random, make: () => unknown) => Array.from({ length: below(random, 3) }, make)

function links(random: Random, target: 'post' | 'tag'): unknown {
  const dice = random()
  if (dice < 0.3) return listOf(random, () => name(random, target))
  if (dice < 0.5) return { set: listOf(random, () => name(random, target)) }
  if (dice < 0.55) return null
  return {
    connect: listOf(random, () => item(random, target)),
    ...(random() < 0.4 ? { disconnect: listOf(random, () => name(random, target)) } : {}),
  }
}

const one = (random: Random, target: 'post' | 'tag'): unknown =>
  pick<() => unknown>(random, [
    () => name(random, target),
    () => name(random, target),
    () => null,
    () => ({ connect: [name(random, target)] }),
    () => ({ disconnect: [name(random, target)] }),
  ])()

/** Of documents of the caller, of others, and of none. */
const componentId = (random: Random) => (random() < 0.4 ? { id: 1 + below(random, 60) } : {})

const seo = (random: Random): Body => ({
  ...componentId(random),
  ...(random() < 0.5 ? { text: word(random) } : {}),
  ...(random() < 0.4 ? { pick: one(random, 'tag') } : {}),
  ...(random() < 0.2 ? { image: file(random) } : {}),
})
const part = (random: Random): Body => ({
  ...componentId(random),
  ...(random() < 0.5 ? { text: word(random) } : {}),
  ...(random() < 0.4 ? { picks: links(random, 'post') } : {}),
  ...(random() < 0.3 ? { inner: seo(random) } : {}),
})
const zone = (random: Random) =>
  random() < 0.5 ? { __component: 'c.seo', ...seo(random) } : { __component: 'c.part', ...part(random) }
const file = (random: Random) => pick(random, [1, 2, 3, null, { id: 2 }, 'file2'])

const ATTRIBUTES: Readonly<Record<string, (random: Random) => unknown>> = {
  title: random => (random() < 0.1 ? null : word(random)),
  rank: random => pick<unknown>(random, [1, 2, 4, 'x']),
  flag: random => random() < 0.7,
  about: word,
  open: random => random() < 0.85,
  owner: random => pick<unknown>(random, [1, 2, 3, 99, { connect: [2] }, { disconnect: [2] }, null]),
  category: random => pick<unknown>(random, ['c1', 'c1', 'c1', 'c2', 'nothing']),
  tags: random => links(random, 'tag'),
  owned: random => links(random, 'tag'),
  related: random => links(random, 'post'),
  badge: random => one(random, 'tag'),
  vault: () => 'v1',
  cover: file,
  gallery: random => listOf(random, () => file(random)),
  seo: random => (random() < 0.1 ? null : seo(random)),
  parts: random => listOf(random, () => part(random)),
  body: random => listOf(random, () => zone(random)),
  localizations: () => ['p2'],
}

function postBody(random: Random, count: number): Body {
  const body: Body = random() < 0.3 ? { code: `n${count}` } : {}
  const chance = random() * 0.3
  for (const [key, make] of Object.entries(ATTRIBUTES))
    if (random() < (key === 'vault' || key === 'localizations' ? 0.02 : chance)) body[key] = make(random)
  return body
}

const tagBody = (random: Random): Body => ({
  label: word(random),
  open: random() < 0.8,
  ...(random() < 0.5 ? { posts: links(random, 'post') } : {}),
  ...(random() < 0.5 ? { badged: one(random, 'post') } : {}),
})

const HEADERS: readonly Record<string, string>[] = [
  {},
  {},
  {},
  {},
  { 'if-match': '*' },
  { 'if-match': '"x"' },
  { 'strapi-response-format': 'v4' },
]

const PLACES = [
  '',
  '',
  '?status=draft',
  '?locale=fr',
  '?locale=fr&status=draft',
  '?populate=*',
  '?populate[tags][populate]=posts',
]

type Make = (random: Random, count: number) => readonly [method: string, path: string, data?: Body]

const post = (random: Random) => `/api/posts/${pick(random, POSTS)}`

/** With their weights. */
const KINDS: readonly (readonly [number, Make])[] = [
  [
    10,
    (random, count) => [
      'POST',
      `/api/posts${pick(random, PLACES)}`,
      { ...VISIBLE, ...postBody(random, count) },
    ],
  ],
  [50, (random, count) => ['PUT', post(random) + pick(random, PLACES), postBody(random, count)]],
  [10, random => ['PUT', `/api/tags/${pick(random, TAGS)}?populate=*`, tagBody(random)]],
  [3, random => ['POST', '/api/tags', tagBody(random)]],
  [4, random => ['PUT', '/api/categories/c1?populate=*', { posts: links(random, 'post') }]],
  [4, random => ['PUT', '/api/page?populate=*', pageBody(random)]],
  [2, random => ['DELETE', post(random) + pick(random, ['', '?locale=fr', '?locale=*'])]],
  [1, random => ['DELETE', `/api/tags/${pick(random, TAGS)}`]],
]

const VISIBLE: Body = { title: 'made', category: 'c1', owner: 1, open: true, flag: true, rank: 1 }

const pageBody = (random: Random): Body => ({
  featured: links(random, 'post'),
  ...(random() < 0.5 ? { body: listOf(random, () => zone(random)) } : {}),
})

/** A change over REST or GraphQL. `count` makes its unique value a new one: conflicts are answered (docs/access.md#responses). */
export function writeQuestion(random: Random, count: number): Question {
  let dice = random() * 100
  for (const [weight, make] of KINDS) {
    dice -= weight
    if (dice >= 0) continue
    const [method, path, data] = make(random, count)
    const body = data ? { body: JSON.stringify({ data }) } : {}
    return { method, path, headers: pick(random, HEADERS), ...body }
  }
  return mutation(random, count)
}

const SHOWN = {
  flat: '{ documentId title tags { documentId } related { documentId title } badge { label } owned { label } seo { id text pick { label } } parts { id picks { title } } }',
  nested:
    '{ data { id attributes { title tags { data { id } } badge { data { id attributes { label } } } related { data { id } } } } }',
}

function mutation(random: Random, count: number): Question {
  const flat = random() < 0.5
  const fields = SHOWN[flat ? 'flat' : 'nested']
  const id = `${flat ? 'documentId' : 'id'}: "${pick(random, POSTS)}"`
  const data = mutationData(random, count)
  const locale = random() < 0.3 ? ', locale: "fr"' : ''
  const question = (query: string, variables?: Body): Question => ({
    method: 'POST',
    path: flat ? '/graphql5' : '/graphql',
    body: JSON.stringify({ query, variables }),
  })
  const text = (field: string) => `mutation ($data: PostInput!) { ${field} ${fields} }`
  if (random() < 0.8) return question(text(`updatePost(${id}${locale}, data: $data)`), { data })
  if (flat) return question(`mutation { deletePost(${id}) { documentId } }`)
  return question(text(`createPostLocalization(${id}, locale: "fr", data: $data)`), { data })
}

/** Scalars and relations, which GraphQL takes as ids. */
function mutationData(random: Random, count: number): Body {
  const { title, flag, about, open, code, ...others } = postBody(random, count)
  const data: Body = { title, flag, about, open, code }
  for (const key of ['tags', 'owned'])
    if (key in others) data[key] = listOf(random, () => pick(random, NAMES.tag))
  if ('related' in others) data.related = listOf(random, () => pick(random, NAMES.post))
  if ('badge' in others) data.badge = pick(random, NAMES.tag)
  return data
}
