import assert from 'node:assert/strict'

/** What is asked for at each size. */
export interface Growing {
  readonly title: string
  /** Whether the floor (bench/floor.ts) answers the same. */
  readonly hasFloor?: true
  /** The most that it may cost with a million articles, as a multiple of what it costs with ten thousand. */
  readonly goal?: number
  /** `cursorAt`: the cursor of the page after the article at that position of the list. */
  readonly paths: (options: { readonly articles: number; readonly cursorAt: CursorAt }) => readonly string[]
}

/** `list`: its query string; `place`: of 0 to 1. */
type CursorAt = (list: string, place: number) => readonly string[]

export const PAGE = 25
const LIST = '/api/articles?'
const UNCOUNTED = '&pagination[withCount]=false'

/** The flat goal of lists (docs/rest.md, "Pages by cursor"). */
const FLAT = 1.5

/** 40 whole numbers up to `most`, each other than the rest where there are as many, spread evenly and out of order. */
const spread = (most: number): readonly number[] =>
  Array.from({ length: 40 }, (_, at) => Math.floor((((at * 17) % 40) * most) / 40) + 1)

const byCursor = (list: string, place: number, cursorAt: CursorAt): readonly string[] =>
  cursorAt(list, place).map(cursor => `${LIST}${list}&pagination[after]=${cursor}${UNCOUNTED}`)

const cursorRow = (title: string, list: string, place: number, goal?: number): Growing => ({
  title,
  ...(goal !== undefined && { goal }),
  paths: ({ cursorAt }) => byCursor(list, place, cursorAt),
})

export const GROWING: readonly Growing[] = [
  {
    title: 'findOne',
    hasFloor: true,
    paths: ({ articles }) => spread(articles).map(number => `/api/articles/article-${number}`),
  },
  {
    title: 'page 1 to 40 by number, with total',
    hasFloor: true,
    paths: () => spread(40).map(page => `${LIST}pagination[page]=${page}`),
  },
  {
    title: 'page 1 to 40, total, two relations populated',
    hasFloor: true,
    paths: () => spread(40).map(page => `${LIST}pagination[page]=${page}&populate=author,categories`),
  },
  {
    title: 'page 1 to 40 by number, no total',
    goal: FLAT,
    paths: () => spread(40).map(page => `${LIST}pagination[page]=${page}${UNCOUNTED}`),
  },
  {
    title: 'page by number from the middle, no total',
    paths: ({ articles }) =>
      spread(Math.min(40, articles / PAGE / 2)).map(
        page => `${LIST}pagination[page]=${Math.floor(articles / PAGE / 2) + page - 1}${UNCOUNTED}`,
      ),
  },
  cursorRow('page by cursor from the middle', '', 0.5, FLAT),
  cursorRow('page by cursor near the end', '', 0.9, FLAT),
  cursorRow('the newest first, by cursor from the middle', 'sort=publishedAt:desc', 0.5, FLAT),
  cursorRow('populated, by cursor from the middle', 'populate=author,categories', 0.5, FLAT),
  cursorRow('of one kind, by cursor from the middle', 'filters[kind]=news', 0.5, FLAT),
  cursorRow('of one category, by cursor from the middle', 'filters[categories][slug]=category-7', 0.5, FLAT),
  {
    title: 'of one author (100 articles), with total',
    goal: FLAT,
    paths: ({ articles }) =>
      spread(articles / 100).map(number => `${LIST}filters[author][documentId]=author-${number}`),
  },
  cursorRow('a text that many contain, by cursor from the middle', 'filters[title][$contains]=7', 0.5, FLAT),
  {
    title: 'a text that nothing contains, no total',
    paths: () => [`${LIST}filters[title][$contains]=nowhere${UNCOUNTED}`],
  },
]

/** Where authors live, a level further each. */
export const LEVELS = ['author', 'author.city', 'author.city.country', 'author.city.country.continent']

export const populated = (levels: string): Growing =>
  cursorRow(`populate=${levels}`, `populate=${levels}`, 0.5)

/** A list's cursors of 40 places behind one, made of one that the server gave (docs/rest.md: it is opaque to others). */
export async function prepareCursors(base: string, articles: number): Promise<CursorAt> {
  const given = new Map<string, string>()
  for (const sort of ['', 'sort=publishedAt:desc']) given.set(sort, await firstCursor(base, sort))
  return (list, place) => {
    const sorted = list.startsWith('sort=') ? list : ''
    const [order] = unpack(given.get(sorted) ?? '')
    const first = Math.floor(articles * place)
    return spread(40).map(more => pack(order, first + more, { articles, newestFirst: sorted !== '' }))
  }
}

async function firstCursor(base: string, sort: string): Promise<string> {
  const answer = await fetch(`${base}${LIST}${sort}&pagination[after]=&pagination[pageSize]=1${UNCOUNTED}`)
  const { meta } = (await answer.json()) as { readonly meta: { readonly pagination: { next: string } } }
  return meta.pagination.next
}

const unpack = (cursor: string): readonly unknown[] => {
  const held: unknown = JSON.parse(Buffer.from(cursor, 'base64url').toString())
  assert(Array.isArray(held))
  return held
}

/** As bench/growth/seed.ts numbers and dates them. */
function pack(
  order: unknown,
  place: number,
  { articles, newestFirst }: { readonly articles: number; readonly newestFirst: boolean },
): string {
  const number = newestFirst ? articles - place : place
  const published = new Date(Date.UTC(2020, 0, 1, 0, number)).toISOString()
  const held = [order, newestFirst ? [published] : [], number * 2]
  return Buffer.from(JSON.stringify(held)).toString('base64url')
}
