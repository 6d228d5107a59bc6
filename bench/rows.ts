/** What is measured: a title, the requests, and the least share of the floor's throughput that we accept. */
export const ROWS = {
  one: { title: 'findOne', goal: 0.6 },
  list: { title: 'list of 25 with total', goal: 0.8 },
  populate: { title: 'list of 25, two relations populated', goal: 0.8 },
} as const

export type RowName = keyof typeof ROWS
export const ROW_NAMES = Object.keys(ROWS) as readonly RowName[]

/** Different documents and pages, so that no answer is asked for again soon. */
export function pathsOf(row: RowName): readonly string[] {
  if (row === 'one') return mixed(1000).map(number => `/api/articles/article-${number * 10}`)
  const more = row === 'populate' ? '&populate=author,categories' : ''
  return mixed(40).map(number => `/api/articles?pagination[page]=${number}${more}`)
}

/** 1 to `count`, each once, in an order that jumps about (7919 is prime). */
const mixed = (count: number): readonly number[] =>
  Array.from({ length: count }, (_, index) => ((index * 7919) % count) + 1)
