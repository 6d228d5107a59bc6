import type { Random } from '../end-to-end/fuzz.ts'
import { below, pick } from './random.ts'

/** The link targets of bodies: existing documents, by id and number, and missing ones. */
export interface Ids {
  readonly authors: readonly unknown[]
  readonly categories: readonly unknown[]
  readonly articles: readonly unknown[]
}

type Body = Readonly<Record<string, unknown>>

const SCALARS = [
  ...[
    null,
    true,
    false,
    0,
    1,
    -1,
    7,
    1.5,
    1e308,
    2 ** 31,
    2 ** 53,
    '',
    'x',
    'abc',
    '7',
    '1.25',
    'a\0b',
    '\ud800',
    '🙂',
  ],
  ...[
    'news',
    'review',
    'a@b.test',
    '2024-02-29',
    '2024-02-30',
    '25:00:00',
    '10:11:12',
    '2024-01-01T00:00:00Z',
    'NaN',
  ],
  ...['x'.repeat(300), '9'.repeat(40), '{"a":1}', 'draft', 'en', 'fr', 'blocks.quote', '__proto__'],
] as const

/** Values that are right more often than not, so that some bodies are written. */
const RIGHT: Readonly<Record<string, readonly unknown[]>> = {
  title: ['abc', 'Some title', 'x'.repeat(120)],
  slug: ['a-slug', 'other', null],
  body: ['text', null],
  rating: [0, 10, '5', null],
  price: [1, '2.5', null],
  views: ['9', 1],
  score: [1.5, null],
  day: ['2024-02-29'],
  at: ['10:11:12'],
  happensAt: ['2024-01-01T00:00:00.000Z'],
  featured: [true, false],
  kind: ['news', 'review'],
  contact: ['a@b.test'],
  meta: [{ a: [1] }, null, [1]],
  code: ['c1', 'c2', 'c3', null],
}

const KEYS = [
  ...[
    'title',
    'slug',
    'body',
    'content',
    'excerpt',
    'rating',
    'price',
    'views',
    'score',
    'day',
    'at',
    'happensAt',
  ],
  ...['stamp', 'featured', 'kind', 'contact', 'meta', 'code', 'cover', 'gallery', 'publishedAt', 'locale'],
] as const

export function bodyOf(random: Random, ids: Ids): Body {
  const keys = Array.from({ length: below(random, 5) }, () => pick(random, KEYS))
  const scalars = keys.map(key => [key, valueFrom(random, RIGHT[key] ?? SCALARS)] as const)
  return {
    ...(random() < 0.9 ? { title: pick(random, ['abc', 'Some title', 'Another']) } : {}),
    ...Object.fromEntries(scalars),
    ...(random() < 0.3 ? { author: linkOf(random, ids.authors) } : {}),
    ...(random() < 0.3 ? { categories: linkOf(random, ids.categories) } : {}),
    ...(random() < 0.2 ? { related: linkOf(random, ids.articles) } : {}),
    ...(random() < 0.25 ? { seo: componentOf(random) } : {}),
    ...(random() < 0.25 ? { links: listOf(random, 3, () => linkPart(random)) } : {}),
    ...(random() < 0.25 ? { blocks: listOf(random, 3, () => blockOf(random, ids)) } : {}),
    ...(random() < 0.05 ? { [pick(random, ['nothing', 'id', 'createdAt', 'constructor'])]: 1 } : {}),
  }
}

const valueFrom = (random: Random, right: readonly unknown[]): unknown =>
  random() < 0.85 ? pick(random, right) : anything(random, 0)

function anything(random: Random, depth: number): unknown {
  if (depth > 4 || random() < 0.6) return pick(random, SCALARS)
  if (random() < 0.5) return listOf(random, 4, () => anything(random, depth + 1))
  return Object.fromEntries(
    listOf(random, 4, () => [pick(random, KEYS), anything(random, depth + 1)] as const),
  )
}

const listOf = <Item>(random: Random, most: number, make: () => Item): Item[] =>
  Array.from({ length: below(random, most + 1) }, make)

function linkOf(random: Random, ids: readonly unknown[]): unknown {
  const target = (): unknown => (random() < 0.95 ? pick(random, ids) : anything(random, 2))
  const entry = (): unknown => {
    const documentId = target()
    if (random() < 0.5) return documentId
    const position = pick(random, [
      {},
      { position: { end: true } },
      { position: { before: target() } },
      { position: anything(random, 3) },
    ])
    return {
      documentId,
      ...(random() < 0.3 ? position : {}),
      ...(random() < 0.1 ? { locale: pick(random, ['en', 'fr', 'xx']) } : {}),
    }
  }
  const entries = () => listOf(random, 3, entry)
  return pick(random, [
    () => null,
    target,
    entries,
    () => ({ set: entries() }),
    () => ({ connect: entries() }),
    () => ({ disconnect: entries() }),
    () => ({ connect: entries(), disconnect: entries() }),
    () => anything(random, 0),
  ])()
}

const linkPart = (random: Random): unknown => ({
  label: valueFrom(random, ['a', null]),
  ...(random() < 0.95 ? { url: valueFrom(random, ['/']) } : {}),
  ...(random() < 0.1 ? { id: pick(random, [1, 2, 999, 'x']) } : {}),
})

const componentOf = (random: Random): unknown =>
  random() < 0.2
    ? anything(random, 0)
    : { metaTitle: valueFrom(random, ['m']), keywords: valueFrom(random, [{ a: 1 }]) }

function blockOf(random: Random, ids: Ids): unknown {
  const __component =
    random() < 0.95 ? pick(random, ['blocks.quote', 'blocks.gallery', 'shared.link']) : anything(random, 3)
  if (__component === 'blocks.quote')
    return { __component, text: valueFrom(random, ['q']), author: linkOf(random, ids.authors) }
  if (__component === 'blocks.gallery')
    return { __component, links: listOf(random, 2, () => linkPart(random)) }
  return { __component, url: valueFrom(random, ['/']) }
}
