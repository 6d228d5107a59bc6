import { conformanceProject, conformanceUsers } from './conformance-project.ts'
import type { Policy } from './hidden.ts'
import { FULL, openWorld, type World } from './world.ts'

const NARROW_TOKEN = 'narrow-conformance-token-00000000000000'
/** Reads what the narrow one reads, and writes articles. */
export const WRITER = 'writer-conformance-token-00000000000000'

const ARTICLE =
  '{ fields: ["!price", "!code", "!kind", "!happensAt", "!meta", "!author", "!related", "!seo", "!blocks", "!gallery"] }'

/** Roles from which parts of everything are hidden: values, links, components, a zone, media, whole types. */
export const NARROW: Policy = {
  name: 'a caller with some fields and some types',
  token: NARROW_TOKEN,
  hidden: {
    article: ['price', 'code', 'kind', 'happensAt', 'meta', 'author', 'related', 'seo', 'blocks', 'gallery'],
    author: ['email', 'bio', 'birthday'],
    restaurant: ['stars', 'opened'],
    user: ['email', 'provider', 'confirmed', 'blocked', 'role'],
  },
  closed: ['dish', 'country', 'capital', 'setting', 'role', 'locale'],
}

export const POLICIES: readonly Policy[] = [
  NARROW,
  { name: 'a caller with full access', token: FULL, hidden: {}, closed: [] },
]

const READS = `
      author: { find: { fields: [name, avatar, articles] } }
      category: [find]
      restaurant: { find: { fields: ["!stars", "!opened"] } }
      homepage: [find]
      users: { find: { fields: [username] } }
      upload: [find]
`

const TOKENS = `
  narrow:
    type: custom
    secret: ${NARROW_TOKEN}
    permissions:
      article: { find: ${ARTICLE}, findOne: ${ARTICLE} }${READS}
  writer:
    type: custom
    secret: ${WRITER}
    permissions:
      article: { find: ${ARTICLE}, findOne: ${ARTICLE}, create: true, update: true, delete: true }${READS}
`

export const openOracleWorld = (): Promise<World> =>
  openWorld(conformanceProject(TOKENS), { 'users.yaml': conformanceUsers })

/** The values of what is hidden, before and after; what is guessed at is the first. */
export interface Secrets {
  readonly text: string
  readonly number: number
  readonly moment: string
  readonly flag: boolean
  readonly kind: string
}

export const SECRETS: readonly [Secrets, Secrets] = [
  { text: 'whisper', number: 7, moment: '2001-02-03', flag: true, kind: 'review' },
  { text: 'quite another', number: 3, moment: '2009-08-07', flag: false, kind: 'opinion' },
]

export interface Documents {
  readonly author: string
  readonly other: string
  readonly article: string
  readonly second: string
  readonly restaurant: string
}

/** A document of each type, linked every way, with nothing hidden in it yet. */
export async function fill({ make }: World): Promise<Documents> {
  const author = await make('POST', '/api/authors', { name: 'Ann' })
  const other = await make('POST', '/api/authors', { name: 'Bob' })
  const category = await make('POST', '/api/categories', { name: 'News', position: 1 })
  const article = await make('POST', '/api/articles', {
    ...{ title: 'First', slug: 'first', rating: 5, categories: [category.documentId] },
    links: [{ label: 'there', url: '/there' }],
  })
  const second = await make('POST', '/api/articles', { title: 'Second', slug: 'second', rating: 9 })
  const restaurant = await make('POST', '/api/restaurants', {
    name: 'Mill',
    chef: author.documentId,
    owner: 1,
  })
  await make('POST', '/api/dishes', { name: 'Soup', restaurant: restaurant.documentId })
  const capital = await make('POST', '/api/capitals', { name: 'Rome' })
  await make('POST', '/api/countries', { name: 'Italy', capital: capital.documentId })
  await make('PUT', '/api/homepage', { title: 'Home', featured: [article.documentId, second.documentId] })
  await make('PUT', '/api/setting', { siteName: 'Site' })
  return {
    author: author.documentId,
    other: other.documentId,
    article: article.documentId,
    second: second.documentId,
    restaurant: restaurant.documentId,
  }
}

/** Writes hidden values: private ones, passwords, and all that the policies hide. */
export async function hide(
  { make }: World,
  documents: Documents,
  { text, number, moment, flag, kind }: Secrets,
): Promise<void> {
  const { author, other, article, second, restaurant } = documents
  const [one, two] = flag ? [author, other] : [other, author]
  await make('PUT', `/api/authors/${author}`, {
    ...{ secret: text, pin: text, bio: text, email: `${kind}@x.test`, birthday: moment },
  })
  await make('PUT', `/api/authors/${other}`, { secret: flag ? null : 'whisper', bio: kind })
  await make('PUT', `/api/articles/${article}`, {
    ...{ price: number, code: text, kind, happensAt: `${moment}T00:00:00.000Z`, meta: { text } },
    ...{ author: one, related: flag ? [second] : [] },
    seo: { metaTitle: text, metaDescription: kind },
    blocks: [{ __component: 'blocks.quote', text, author: two }],
  })
  await make('PUT', `/api/articles/${second}`, {
    price: 10 - number,
    author: two,
    related: flag ? [] : [article],
  })
  await make('PUT', `/api/restaurants/${restaurant}`, { stars: number, opened: flag })
}
