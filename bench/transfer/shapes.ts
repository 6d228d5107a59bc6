import { join } from 'node:path'

/** Documents of one shape, and the project that has their types. */
export interface Shape {
  /** Folder of the project. */
  readonly project: string
  /** What an article consists of, for the report. */
  readonly about: string
  /** The number of rows that an article takes in all tables. */
  readonly rows: number
  /** The documents of a stream. */
  documents(articles: number): Iterable<object>
}

const STAMPS = { createdAt: '2025-01-02T03:04:05.006Z', updatedAt: '2025-02-03T04:05:06.007Z' }
const BODY = 'It was a bright cold day in April, and the clocks were striking thirteen. '.repeat(8)
const CATEGORIES = 200

const idOf = (type: string, number: number): string => `${type}${String(number).padStart(12, '0')}`

const plain = (type: string, number: number, values: object) => ({
  type: `api::${type}.${type}`,
  documentId: idOf(type, number),
  versions: [{ ...STAMPS, publishedAt: STAMPS.updatedAt, values }],
})

/** Articles come first: all their links lead to what is still to come. */
function* withTargets(articles: number, article: (number: number, of: number) => object): Iterable<object> {
  for (let number = 1; number <= articles; number++) yield article(number, articles)
  for (let number = 1; number <= AUTHORS; number++)
    yield plain('author', number, { name: `Author ${number}` })
  for (let number = 1; number <= CATEGORIES; number++)
    yield plain('category', number, { name: `Category ${number}`, slug: `category-${number}` })
}

const AUTHORS = 1_000

const linksOf = (number: number, articles: number, categories: number) => ({
  author: { documentId: idOf('author', (number % AUTHORS) + 1), order: articles - number },
  categories: Array.from({ length: categories }, (_, step) => ({
    documentId: idOf('category', ((number * 7 + step * 31) % CATEGORIES) + 1),
    order: number,
  })),
})

/** Published in English; every fourth in French, too; every tenth draft was changed since. */
function richArticle(number: number, articles: number) {
  const shared = {
    rating: number % 10,
    price: `${number % 90}.50`,
    blocks: [
      { __component: 'blocks.text', text: BODY },
      { __component: 'blocks.pick', note: 'Next', article: idOf('article', (number % articles) + 1) },
    ],
  }
  const valuesOf = (locale: string, suffix: string) => ({
    title: `Article ${number} in ${locale}${suffix}`,
    slug: `article-${number}`,
    body: BODY,
    ...linksOf(number, articles, 3),
    next: idOf('article', ((number * 13) % articles) + 1),
    seo: { title: `Article ${number}`, description: 'A day in April' },
  })
  const versions = (number % 4 === 0 ? ['en', 'fr'] : ['en']).flatMap(locale =>
    bothVersions(valuesOf(locale, number % 10 === 0 ? ' (changed)' : ''), valuesOf(locale, '')).map(
      version => ({ locale, ...version }),
    ),
  )
  return {
    type: 'api::article.article',
    documentId: idOf('article', number),
    versions,
    shared: { draft: shared, published: shared },
  }
}

const bothVersions = (draft: object, published: object) => [
  { status: 'draft', ...STAMPS, values: draft },
  { status: 'published', ...STAMPS, publishedAt: STAMPS.updatedAt, values: published },
]

/** Published, in one language; every tenth draft was changed since. */
function plainArticle(number: number, articles: number) {
  const valuesOf = (suffix: string) => ({
    title: `Article number ${number}${suffix}`,
    slug: `article-number-${number}`,
    excerpt: `What article ${number} is about, in a line or two of text.`,
    body: BODY,
    rating: number % 11,
    price: `${number % 100}.50`,
    day: '2024-01-01',
    featured: number % 7 === 0,
    kind: ['news', 'opinion', 'review'][number % 3],
    ...linksOf(number, articles, 2),
  })
  return {
    type: 'api::article.article',
    documentId: idOf('article', number),
    versions: bothVersions(valuesOf(number % 10 === 0 ? ' (changed)' : ''), valuesOf('')),
  }
}

export const SHAPES = {
  rich: {
    project: import.meta.dirname,
    about: '2.5 rows, 7.5 ordered links, 5 links in columns and 6.5 components an article',
    rows: 16.5,
    documents: articles => withTargets(articles, richArticle),
  },
  plain: {
    project: join(import.meta.dirname, '..', 'growth'),
    about: '2 rows, 4 ordered links and 2 links in columns an article',
    rows: 6,
    documents: articles => withTargets(articles, plainArticle),
  },
} as const satisfies Record<string, Shape>
