import { type Filter, pick as pickOne, type Random } from '../end-to-end/fuzz.ts'
import { below, pick } from './random.ts'

/** Filters on articles whose values are such as the articles have, over relations, components and groups. */
export const conditionOf = (random: Random, depth = 2): Filter => groupOf(random, depth, RELATED)

/** Conditions without a path that leads back to articles. */
export const filterOf = (random: Random, depth = 2): Filter => groupOf(random, depth, ELSEWHERE)

type Way = (random: Random) => Filter

function groupOf(random: Random, depth: number, ways: readonly Way[]): Filter {
  const chance = random()
  if (depth > 0 && chance < 0.2)
    return {
      [pick(random, ['$and', '$or'])]: [groupOf(random, depth - 1, ways), groupOf(random, depth - 1, ways)],
    }
  if (depth > 0 && chance < 0.3) return { $not: groupOf(random, depth - 1, ways) }
  if (depth > 0 && chance < 0.6) return pick(random, ways)(random)
  const [name, make] = pick(random, Object.entries(OWN))
  return { [name]: make(random) }
}

const TEXTS = ['a', 'b', 'c', 'ab', 'ca']
const NUMBERS = ['1', '2', '3', '5', '8']

const text = (random: Random): Filter =>
  pickOne<Filter>(random, [
    { $contains: pick(random, TEXTS) },
    { $notContains: pick(random, TEXTS) },
    { $startsWithi: pick(random, TEXTS) },
    { $in: [pick(random, TEXTS), pick(random, TEXTS)] },
    { $gt: pick(random, TEXTS) },
    { $null: pick(random, ['true', 'false']) },
  ])

const number = (random: Random): Filter =>
  pickOne<Filter>(random, [
    { $gt: pick(random, NUMBERS) },
    { $lte: pick(random, NUMBERS) },
    { $ne: pick(random, NUMBERS) },
    { $notIn: [pick(random, NUMBERS), pick(random, NUMBERS)] },
    { $between: [pick(random, NUMBERS), pick(random, NUMBERS)] },
    { $null: pick(random, ['true', 'false']) },
  ])

const flag = (random: Random): Filter => ({ $eq: pick(random, ['true', 'false']) })

const kind = (random: Random): Filter => ({ $in: [pick(random, KINDS), pick(random, KINDS)] })

const KINDS = ['news', 'opinion', 'review']

const OWN = { title: text, excerpt: text, rating: number, price: number, featured: flag, kind } as const

const ELSEWHERE: readonly Way[] = [
  random => ({ author: { name: text(random) } }),
  random => ({ categories: { name: text(random) } }),
  random => ({ categories: { position: number(random) } }),
  random => ({ seo: { metaTitle: text(random) } }),
  random => ({ links: { label: text(random) } }),
]

const RELATED: readonly Way[] = [
  ...ELSEWHERE,
  random => ({ author: { articles: { rating: number(random) } } }),
  random => ({ related: { title: text(random) } }),
]

/** Values of an article; what it links to is one of those that are given. */
export const articleOf = (random: Random, authors: readonly string[], categories: readonly string[]) => ({
  title: `${pick(random, TEXTS)}${pick(random, TEXTS)}${pick(random, TEXTS)}`.padEnd(3, 'c'),
  excerpt: pick(random, [null, ...TEXTS]),
  rating: pick(random, [null, 1, 2, 3, 5, 8]),
  price: pick(random, [null, 1, 2, 5]),
  featured: random() < 0.5,
  kind: pick(random, KINDS),
  author: pick(random, [null, ...authors]),
  categories: categories.filter(() => random() < 0.5),
  seo: random() < 0.5 ? null : { metaTitle: pick(random, TEXTS) },
  links: Array.from({ length: below(random, 3) }, () => ({ label: pick(random, TEXTS), url: '/' })),
})
