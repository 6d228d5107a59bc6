import { type Alias, quoteText } from './identifier.ts'
import type { Expression, Select, Union } from './nodes.ts'

/** What PostgreSQL's error begins with where a list is ended because its text is too large; then the path follows. */
export const TOO_LARGE = 'plinth: the answer is too large at '

/** Lists inside of lists from which on a list is ended early: what is less deep is quickly made. */
export const MIN_BOUNDED_DEPTH = 2

const ROW: Alias = 'r$'
const JSON_ROW: Alias = 'j$'
const SUM: Alias = 's$'

/**
 * The JSON text of each row (`text`), as long as all of them together have at most so many bytes. The sum runs along,
 * so that the first row that is too many ends the statement before the next one is made. The cast fails only where it
 * is reached: it depends on a row. OFFSET 0 keeps a row from being made twice.
 */
export function printBounded(rows: string, { path }: ListChain, maxBytes: number): string {
  const failure = `(${quoteText(TOO_LARGE + path.join('.'))} || left(${SUM}.text, 0))::integer::text`
  const json = `SELECT row_to_json(${ROW})::text AS text FROM (${rows}) ${ROW} OFFSET 0`
  const summed = `SELECT ${JSON_ROW}.text, sum(octet_length(${JSON_ROW}.text)) OVER (ROWS UNBOUNDED PRECEDING) AS bytes FROM (${json}) ${JSON_ROW}`
  return `SELECT CASE WHEN ${SUM}.bytes > ${maxBytes} THEN ${failure} ELSE ${SUM}.text END AS text FROM (${summed}) ${SUM}`
}

/** PostgreSQL computes columns before it sorts, unless there is a limit: then only for the rows that are asked for. */
export const UNLIMITED = ' LIMIT 2147483647'

/** The keys that lead through the most lists inside of one another, and how many lists those are. */
interface ListChain {
  readonly lists: number
  readonly path: readonly string[]
}

const NO_LISTS: ListChain = { lists: 0, path: [] }

/** Of the rows of a select. Each list multiplies the work of the lists inside of it. */
export const listChain = (rows: Select | Union): ListChain =>
  rows.kind === 'union' ? longest(rows.parts.map(({ row }) => selectChain(row))) : selectChain(rows)

const selectChain = ({ columns }: Select): ListChain =>
  longest(
    columns.map(({ as, expression }) => {
      const { lists, path } = expressionChain(expression)
      return lists === 0 ? NO_LISTS : { lists, path: [as, ...path] }
    }),
  )

function expressionChain(expression: Expression): ListChain {
  switch (expression.kind) {
    case 'row-json':
      return selectChain(expression.select)
    case 'rows-json': {
      const { lists, path } = listChain(expression.rows)
      return { lists: lists + 1, path }
    }
    default:
      return NO_LISTS
  }
}

const longest = (chains: readonly ListChain[]): ListChain =>
  chains.reduce((most, chain) => (chain.lists > most.lists ? chain : most), NO_LISTS)
