import test from 'ava'
import { once } from '../../core/base/memo.ts'
import { numbersFrom } from '../end-to-end/fuzz.ts'
import { below, pick, sample } from '../safety/random.ts'
import { FULL, openWorld, type Reported, type World } from '../safety/world.ts'

// Roles with random fields and row conditions search for random words. All texts are of one small vocabulary, so that a text that a role
// may not read would change what it finds. After all of these texts have changed, every response is the same, byte by byte.
// PLINTH_SAFETY=whole: 60 roles.

const WHOLE = process.env.PLINTH_SAFETY === 'whole'
const ROLES = WHOLE ? 60 : 8
const REQUESTS = WHOLE ? 120 : 30
const DOCUMENTS = 24
/** More matches than are ranked (docs/search.md). */
const NOTES = 1030
const SEED = 20_261_127

/** Words of one stem, with an accent, and near to each other. */
const WORDS = [
  'wine',
  'wines',
  'vine',
  'café',
  'cafe',
  'red',
  'natural',
  'nature',
  'sauce',
  'saucer',
  'river',
]
/** Not in the texts: most are corrected. */
const TYPOS = ['wime', 'wnies', 'viine', 'natrual', 'sauec', 'rivver', 'cafee', 'naturel', 'reed']
/**
 * Words of texts that a role may not read. The table of words keeps them, so each role has its own: what is typed, and words that are
 * nearer to it than the correct ones.
 */
const hiddenWords = (role: number): readonly string[] => [
  ...WORDS,
  ...TYPOS,
  ...TYPOS.map(typed => typed + String.fromCharCode(97 + (role % 26))),
]
const LOCALES = ['en', 'fr']

/** The searched attributes by type, with their columns. */
const TEXTS = {
  article: ['title', 'slug', 'body', 'rich', 'quotes', 'zone'],
  place: ['name', 'address'],
  note: ['title', 'body', 'mail'],
} as const
type Type = keyof typeof TEXTS
const TYPES: readonly Type[] = ['article', 'place', 'note']

const random = numbersFrom(SEED)

interface Grant {
  readonly fields: readonly string[]
  /** Finds only documents with a higher rating; null: all. */
  readonly above: number | null
  readonly drafts: boolean
}
type Grants = Readonly<Record<Type, Grant>>

function randomGrant(type: Type): Grant {
  const fields = [...sample(random, TEXTS[type], TEXTS[type].length / 2), 'rating']
  return { fields, above: random() < 0.5 ? below(random, 3) : null, drafts: random() < 0.5 }
}

const roles: readonly Grants[] = Array.from({ length: ROLES }, () => ({
  article: randomGrant('article'),
  place: randomGrant('place'),
  note: randomGrant('note'),
}))

const tokenOf = (role: number): string => `a-token-of-forty-letters-for-a-random-role-${role}`

const permissionsOf = (grants: Grants) =>
  Object.fromEntries(
    TYPES.map(type => {
      const { fields, above, drafts } = grants[type]
      const read = { fields, ...(above !== null && { where: { rating: { $gt: above } } }) }
      return [type, { find: read, findOne: read, ...(drafts && type === 'article' && { readDrafts: true }) }]
    }),
  )

const PROJECT = {
  name: 'Wines',
  cache: { enabled: false },
  rest: { maxLimit: 2000 },
  graphql: { endpoints: { '/nested': 'nested', '/flat': 'flat' } },
  i18n: { locales: LOCALES, defaultLocale: 'en' },
  server: { rateLimit: { api: false, auth: false, account: false } },
  components: {
    'part.quote': { attributes: { text: 'text' } },
    'part.aside': { attributes: { text: 'text' } },
  },
  contentTypes: {
    article: {
      draftAndPublish: true,
      localized: true,
      search: {
        attributes: { title: 'A', slug: 'B', body: 'C', rich: 'D', 'quotes.text': 'D', 'zone.text': 'B' },
        typos: true,
      },
      attributes: {
        ...{ title: 'string', slug: 'string', body: 'text', rich: 'blocks', rating: 'integer' },
        quotes: { type: 'component', component: 'part.quote', repeatable: true },
        zone: { type: 'dynamiczone', components: ['part.aside'] },
      },
    },
    place: {
      search: { attributes: { name: 'A', address: 'B' }, typos: true },
      attributes: { name: 'string', address: 'string', rating: 'integer' },
    },
    note: {
      search: { attributes: { title: 'A', body: 'C', mail: 'B' }, typos: true },
      attributes: { title: 'text', body: 'text', mail: 'string', rating: 'integer' },
    },
  },
  apiTokens: Object.fromEntries([
    ['full', { type: 'full-access', secret: FULL }],
    ...roles.map((grants, role) => [
      `role${role}`,
      { type: 'custom', secret: tokenOf(role), permissions: permissionsOf(grants) },
    ]),
  ]),
}

const words = (count: number): string => Array.from({ length: count }, () => pick(random, WORDS)).join(' ')
const text = (): string => words(1 + below(random, 5))

const world = once(async (): Promise<World> => {
  const opened = await openWorld(JSON.stringify(PROJECT))
  for (let at = 0; at < DOCUMENTS; at++) await makeDocuments(opened, at)
  await run(
    opened,
    `INSERT INTO notes (document_id, title, body, mail, rating, created_at, updated_at)
     SELECT 'n' || n, ${sqlText('n')}, ${sqlText('n + 1')}, ${sqlText('n + 2')}, n % 5, now(), now() FROM generate_series(1, ${NOTES}) AS n`,
  )
  return opened
})

test.after.always(async () => (await world()).close())

async function makeDocuments({ make }: World, at: number): Promise<void> {
  const article = () => ({
    ...{ title: text(), slug: text(), body: text(), rating: below(random, 5) },
    rich: [{ type: 'paragraph', children: [{ type: 'text', text: text() }] }],
    quotes: [{ text: text() }, { text: text() }],
    zone: [{ __component: 'part.aside', text: text() }],
  })
  const { documentId } = await make(
    'POST',
    `/api/articles?status=${at % 4 === 0 ? 'draft' : 'published'}`,
    article(),
  )
  if (at % 2 === 0) await make('PUT', `/api/articles/${documentId}?locale=fr&status=published`, article())
  if (at % 3 === 0) await make('PUT', `/api/articles/${documentId}?status=draft`, article())
  await make('POST', '/api/places', { name: text(), address: text(), rating: below(random, 5) })
}

const run = ({ database }: World, statement: string) => database.run({ text: statement, values: [] })

/** Three words that depend on `key` and on a new random number. */
function sqlText(key: string, among: readonly string[] = WORDS): string {
  const list = `ARRAY[${among.map(word => `'${word}'`).join(', ')}]`
  const word = (factor: number) =>
    `(${list})[1 + ((${key}) * ${factor} + ${below(random, 1000)}) % ${among.length}]`
  return `concat_ws(' ', ${[1, 7, 13].map(word).join(', ')})`
}

/** The tables of attributes with components. */
const PARTS = new Map([
  ['quotes', 'components_part_quote'],
  ['zone', 'components_part_aside'],
])

/** Changes the texts of attributes in some rows to some of these words, without any other change of a row. */
async function change(
  type: Type,
  names: readonly string[],
  among: readonly string[],
  where = 'true',
): Promise<void> {
  const words = () => sqlText('id', among)
  const value = (name: string) =>
    name === 'rich' ? `jsonb_build_array(jsonb_build_object('text', ${words()}))` : words()
  const own = names.filter(name => !PARTS.has(name)).map(name => `${name} = ${value(name)}`)
  const parts = names.flatMap(name => PARTS.get(name) ?? [])
  const statements = [
    ...(own.length > 0 ? [`UPDATE ${type}s SET ${own.join(', ')} WHERE ${where}`] : []),
    ...parts.map(table => `UPDATE ${table} SET text = ${words()} WHERE ${where}`),
  ]
  for (const statement of statements) await run(await world(), statement)
}

/** Changes all texts that the role may not read, and those of documents that it does not find. */
async function changeHidden(role: number, grants: Grants): Promise<void> {
  const words = hiddenWords(role)
  for (const type of TYPES) {
    const own = TEXTS[type].filter(name => name !== 'quotes' && name !== 'zone')
    await change(type, own, words, hiddenRows(type, grants[type]))
    const hidden = TEXTS[type].filter(name => !grants[type].fields.includes(name))
    await change(type, hidden, words)
  }
}

/** Removes the words that were hidden from the role before. */
async function resetTexts(): Promise<void> {
  for (const type of TYPES) await change(type, TEXTS[type], WORDS)
}

/** The rows that the role does not find, as SQL. */
function hiddenRows(type: Type, { above, drafts }: Grant): string {
  const draft = type === 'article' && !drafts ? `status = 'draft'` : 'false'
  return above === null ? draft : `(${draft} OR NOT rating > ${above})`
}

/** Words with what a search can contain. */
function randomSearch(): string {
  const one = () => {
    const word = pick(random, random() < 0.4 ? TYPOS : WORDS)
    const kind = random()
    if (kind < 0.1) return `-${word}`
    if (kind < 0.2) return `"${word} ${pick(random, WORDS)}"`
    if (kind < 0.3) return `${word} or`
    return word
  }
  return Array.from({ length: 1 + below(random, 2) }, one).join(' ')
}

interface PlanRequest {
  readonly method: 'GET' | 'POST'
  readonly path: string
  readonly body?: string
  /** The list that contains the results; null: another answer. */
  readonly list: string | null
}

const readable = (type: Type, { fields }: Grant): readonly string[] =>
  TEXTS[type].filter(name => fields.includes(name))
const ownTexts = (type: Type, grant: Grant): readonly string[] =>
  readable(type, grant).filter(name => name !== 'quotes' && name !== 'zone')

function restRequest(type: Type, grant: Grant): PlanRequest {
  const terms: string[] = []
  const own = ownTexts(type, grant)
  if (type === 'article')
    terms.push(
      pick(random, ['', 'locale=fr', 'locale=*']),
      grant.drafts ? pick(random, ['', 'status=draft']) : '',
    )
  if (random() < 0.3) terms.push(`filters[rating][$lt]=${1 + below(random, 4)}`)
  if (own.length > 0 && random() < 0.2) terms.push(`filters[${own[0]}][$contains]=${pick(random, WORDS)}`)
  const listed = [...terms]
  const size = pick(random, [
    '',
    'pagination[pageSize]=3',
    'pagination[start]=2&pagination[limit]=4',
    'pagination[pageSize]=2000',
  ])
  terms.push(size, pick(random, ['', 'sort=relevance', 'sort=rating', 'sort=rating:desc']))
  terms.push(pick(random, ['', '', 'pagination[withCount]=false', 'pagination[withCount]=estimate']))
  if (own.length > 0 && random() < 0.5)
    terms.push(`highlight=${own.filter(name => name !== 'rich').join(',')}`)
  if (random() < 0.3) terms.push('_q=e')
  const query = [`search=${encodeURIComponent(randomSearch())}`, ...terms].filter(Boolean).join('&')
  return {
    method: 'GET',
    path: `/api/${type}s?${query}`,
    list: `/api/${type}s?${[...listed, 'pagination[pageSize]=2000'].filter(Boolean).join('&')}`,
  }
}

function graphqlRequest(type: Type, grant: Grant): PlanRequest {
  const search = JSON.stringify(randomSearch())
  const terms = `search: ${search}${pick(random, ['', ', sort: "relevance"', ', sort: "rating:desc"'])}${pick(random, ['', ', pagination: { limit: 5 }'])}`
  const names = ['rating', ...ownTexts(type, grant)].join(' ')
  const [path, query] = pick(random, [
    ['/flat', `{ ${type}s(${terms}) { documentId ${names} } }`],
    ['/flat', `{ ${type}s_connection(${terms}) { nodes { documentId ${names} } pageInfo { total } } }`],
    [
      '/nested',
      `{ ${type}s(${terms}) { data { id attributes { ${names} } } meta { pagination { total } } } }`,
    ],
  ] as const)
  return { method: 'POST', path, body: JSON.stringify({ query }), list: null }
}

async function oneRequest(): Promise<PlanRequest> {
  const { make } = await world()
  const ids = (await make('GET', '/api/articles?fields=id')) as unknown as readonly { documentId: string }[]
  const { documentId } = pick(random, ids)
  return {
    method: 'GET',
    path: `/api/articles/${documentId}?search=${encodeURIComponent(randomSearch())}`,
    list: null,
  }
}

const acrossRequest = (): PlanRequest => ({
  method: 'GET',
  path: `/api/search?q=${encodeURIComponent(randomSearch())}${pick(random, ['', '&limit=3', '&limit=2000', '&locale=fr', '&locale=*'])}`,
  list: null,
})

async function randomRequest(grants: Grants): Promise<PlanRequest> {
  const type = pick(random, ['article', 'article', 'place', 'note'] as const)
  const kind = random()
  if (kind < 0.1) return await oneRequest()
  if (kind < 0.25) return acrossRequest()
  return kind < 0.4 ? graphqlRequest(type, grants[type]) : restRequest(type, grants[type])
}

const ask = async ({ method, path, body }: PlanRequest, role: number): Promise<Reported> =>
  (await world()).ask(method, path, { as: tokenOf(role), ...(body !== undefined && { body }) })

interface Listed {
  readonly data: readonly { readonly id: number }[]
  readonly meta: { readonly pagination: { readonly total?: number } }
}

/** Documents that a search finds beyond its list, and a total above that of the list. */
async function beyondList(asked: PlanRequest, answer: Reported, role: number): Promise<readonly unknown[]> {
  if (asked.list === null || answer.status !== 200) return []
  const list: Listed = JSON.parse((await ask({ ...asked, path: asked.list }, role)).text)
  const found: Listed = JSON.parse(answer.text)
  const ids = new Set(list.data.map(({ id }) => id))
  const { total } = found.meta.pagination
  const tooMany = total !== undefined && total > (list.meta.pagination.total ?? 0)
  return [...found.data.filter(({ id }) => !ids.has(id)), ...(tooMany ? [total] : [])]
}

for (const [role, grants] of roles.entries()) {
  const fields = TYPES.map(type => `${type}: ${readable(type, grants[type]).join(', ')}`).join('; ')
  test.serial(`role ${role} finds nothing by what it may not read (${fields})`, async t => {
    await resetTexts()
    const requests: PlanRequest[] = []
    while (requests.length < REQUESTS) requests.push(await randomRequest(grants))
    const before: Reported[] = []
    for (const asked of requests) {
      const answer = await ask(asked, role)
      t.deepEqual(await beyondList(asked, answer, role), [], asked.path)
      t.true([200, 400, 403, 404].includes(answer.status), `${asked.path} ${answer.text}`)
      before.push(answer)
    }
    // Some requests have results: the comparison below can fail.
    t.true(before.filter(({ status }) => status === 200).length > REQUESTS / 4)
    for (const type of TYPES.filter(each => readable(each, grants[each]).length > 0)) {
      const path = `/api/${type}s?search=${encodeURIComponent(WORDS.slice(0, 8).join(' or '))}`
      t.notRegex((await ask({ method: 'GET', path, list: null }, role)).text, /"total":0/, path)
    }
    await changeHidden(role, grants)
    for (const [at, asked] of requests.entries())
      t.deepEqual(await ask(asked, role), before[at], `${asked.path} ${asked.body ?? ''}`)
  })
}

test.serial(
  'a long text that a caller may not read does not shorten what is searched of the others',
  async t => {
    const { database } = await world()
    const role = roles.findIndex(
      ({ note }) => note.fields.includes('body') && !note.fields.includes('title') && note.above === null,
    )
    const write = `UPDATE notes SET body = repeat('wine ', 30000) || 'zebra', title = `
    const asked: PlanRequest = { method: 'GET', path: '/api/notes?search=zebra&fields=rating', list: null }
    await database.run({ text: `${write}'short' WHERE id = 1`, values: [] })
    const before = await ask(asked, role)
    t.regex(before.text, /"total":1/)
    // 60,000 long words are more than a vector holds.
    const many = `(SELECT string_agg(md5(n::text), ' ') FROM generate_series(1, 60000) AS n)`
    await database.run({ text: `${write}${many} WHERE id = 1`, values: [] })
    t.deepEqual(await ask(asked, role), before)
  },
)
