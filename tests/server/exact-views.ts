import { FIRST, LIMITED, type State, type Version } from './exact-subjects.ts'

// What the requests of the test of exact answers show of each state of a subject.

export interface Row {
  readonly [name: string]: unknown
  readonly name: string
}

/** The documents that a request is about. */
export interface Target {
  readonly name: string
  readonly life: number
  readonly noteId: string
  readonly textId: string
  readonly markId: string
}

export interface View {
  readonly name: string
  readonly path: (target: Target) => string
  /** What the answer shows of a subject in this state, as JSON; null: nothing. */
  readonly shows: (state: State, target: Target) => string | null
  /** The same of a row of the answer. */
  readonly read: (row: Row) => unknown
  /** True: the answer is about the target alone. */
  readonly isOne?: boolean
  /** The rows in the total that are of no subject; absent: the answer has no total. */
  readonly fillers?: number
  /** Pages of at most so many rows, in ascending order of `key`. */
  readonly page?: { readonly size: number; readonly key: (row: Keyed) => number | string }
  readonly token?: string
  readonly graphql?: string
}

/** What a list is sorted by. */
interface Keyed {
  readonly name: string
  readonly value?: unknown
}

/** Published notes with names behind those of all subjects. */
export const FILLERS = 20

const json = (value: unknown): string | null => (value === null ? null : JSON.stringify(value))

/** null: the answer does not contain the version. */
type Pick = (version: Version, state: State) => unknown

const published =
  (pick: Pick) =>
  (state: State): string | null =>
    json(state.published && pick(state.published, state))

const draft = (state: State): string | null => json(state.draft && PLAIN(state.draft, state))

const PLAIN: Pick = ({ value, rating }) => ({ value, rating })
const readPlain = ({ value, rating }: Row) => ({ value, rating })

const WHOLE: Pick = ({ value, title, words, hasShelf }, { shelf, caption }) => ({
  ...{ value, title, words: String(words), shelf: hasShelf ? shelf : null },
  caption: caption === 0 ? null : String(caption),
})
const readWhole = ({ value, title, ...row }: Row) => {
  const { seo, shelf, cover } = row as unknown as Readonly<Record<'seo' | 'shelf' | 'cover', Row | null>>
  return { value, title, words: seo?.words, shelf: shelf?.name ?? null, caption: cover?.caption ?? null }
}

const only =
  (test: (version: Version, state: State) => boolean): Pick =>
  (version, state) =>
    test(version, state) ? PLAIN(version, state) : null

const readValue = ({ value }: Row) => value

const isAlpha = only(({ title }) => title === 'alpha')
const isGood = only(({ rating }) => rating > 2)

/** The document has another documentId in each of its lives. */
const one = (name: string, rest: string, own: Pick, more: Partial<View> = {}): View => {
  const { shows = published(own), ...others } = more
  return {
    ...{ name, path: ({ noteId }) => `/api/notes/${noteId}?${rest}`, isOne: true },
    ...{ read: own === WHOLE ? readWhole : readPlain, ...others },
    shows: (state, target) => (state.life === target.life ? shows(state, target) : null),
  }
}

const many = (name: string, rest: string, own: Pick, more: Partial<View> = {}): View => ({
  ...{ name, path: () => `/api/notes?${own === WHOLE ? '' : 'fields=name,value,rating&'}${rest}` },
  ...{ shows: published(own), read: own === WHOLE ? readWhole : readPlain },
  ...more,
})

const NO_TOTAL = 'pagination[withCount]=false'
const OF_SUBJECTS = 'filters[name][$startsWith]=s'

const NOTES: readonly View[] = [
  one('one document', 'fields=name,value,rating', PLAIN),
  one('relation, component, media', 'populate=seo,shelf,cover', WHOLE),
  one('one with conditions', '', isGood, { token: LIMITED }),
  one('one by a search', 'search=alpha', isAlpha),
  one('one draft', 'status=draft', PLAIN, { shows: draft }),
  many('list with total', 'sort=name', PLAIN, { fillers: FILLERS }),
  many('drafts', `sort=name&status=draft&${NO_TOTAL}`, PLAIN, { shows: draft }),
  many('populated list', `sort=name&populate=seo,shelf,cover&${NO_TOTAL}`, WHOLE),
  many('filter', `filters[rating][$gt]=2&${OF_SUBJECTS}&sort=name&${NO_TOTAL}`, isGood),
  many(
    'filter with total',
    'filters[rating]=5&sort=name',
    only(({ rating }) => rating === 5),
    { fillers: 0 },
  ),
  many(
    'estimated total',
    'filters[rating][$lt]=3&sort=name&pagination[withCount]=estimate',
    only(({ rating }) => rating < 3),
    { fillers: 0 },
  ),
  many(
    'filter on a relation',
    'filters[shelf][name][$contains]=renamed&sort=name',
    only(({ hasShelf }, { shelf }) => hasShelf && shelf?.includes('renamed') === true),
    { fillers: 0 },
  ),
  many('sort', `sort=value:desc&pagination[pageSize]=3&${NO_TOTAL}`, PLAIN, {
    page: { size: 3, key: ({ value }) => -Number(value) },
  }),
  many('list with conditions', 'sort=name', isGood, { token: LIMITED, fillers: FILLERS }),
  many('search', 'search=alpha&sort=name', isAlpha, { fillers: 0 }),
  many(
    'search by relevance',
    'search=beta&pagination[withCount]=estimate',
    only(({ title }) => title === 'beta'),
    { fillers: 0 },
  ),
  many('cursor', `sort=name&pagination[after]=&pagination[pageSize]=3&${OF_SUBJECTS}`, PLAIN, {
    page: { size: 3, key: ({ name }) => name },
  }),
]

const GRAPHQL: readonly View[] = [
  {
    ...many('GraphQL list', '', WHOLE),
    graphql:
      '{ notes(sort: "name") { data { attributes { name value title seo { words } shelf { data { attributes { name } } } cover { data { attributes { caption } } } } } } }',
  },
  {
    ...many(
      'GraphQL filter',
      '',
      only(({ rating }) => rating === 4),
      { fillers: 0 },
    ),
    graphql:
      '{ notes(sort: "name", filters: { rating: { eq: 4 } }) { data { attributes { name value rating } } meta { pagination { total } } } }',
  },
]

const OTHERS: readonly View[] = [
  {
    ...{ name: 'locale', isOne: true, read: readValue },
    path: ({ textId }) => `/api/texts/${textId}?locale=de`,
    shows: ({ text }) => json(text.de),
  },
  {
    ...{ name: 'default locale', read: readValue, fillers: 0 },
    path: () => '/api/texts?sort=name',
    shows: ({ text }) => json(text.en),
  },
  {
    ...{ name: 'COPY', read: readValue, fillers: 0 },
    path: () => '/api/marks?sort=name',
    shows: ({ mark }) => json(mark),
  },
  {
    ...{ name: 'one of COPY', isOne: true, read: readValue },
    path: ({ markId }) => `/api/marks/${markId}`,
    shows: ({ mark }) => json(mark),
  },
  {
    ...{ name: 'TRUNCATE', read: readValue, path: () => '/api/boards' },
    shows: ({ mark }, { name }) => (name === FIRST ? json(mark) : null),
  },
]

export const VIEWS = [...NOTES, ...GRAPHQL, ...OTHERS]
