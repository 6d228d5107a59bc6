import { INTEGER } from '../base/integers.ts'
import { type Alias, quoteText } from './identifier.ts'
import type { Expression, Select, Union } from './nodes.ts'

/** Start of the error message of a list whose text is too large. The path follows. */
export const TOO_LARGE = 'plinth: the answer is too large at '

/** Nesting depth from which the limit is checked row by row. Shallower lists are fast to compute. */
export const MIN_BOUNDED_DEPTH = 2

const ROW: Alias = 'r$'
const JSON_ROW: Alias = 'j$'
const SUM: Alias = 's$'

/**
 * Prints a query for the JSON of each row (`json`) that fails once the total exceeds `maxBytes`. The running sum stops the
 * statement before the next row is computed. The failing cast depends on a row, so it is not folded to a constant.
 * OFFSET 0 prevents that a row is computed twice. The JSON stays `json`: a cast from text would parse all of it again, once
 * for each level of lists around it.
 */
export function printBounded(rows: string, path: readonly string[], maxBytes: number): string {
  const json = `SELECT row_to_json(${ROW}) AS json FROM (${rows}) ${ROW} OFFSET 0`
  return `SELECT ${boundedJson(path, maxBytes)} AS json FROM (${withBytes(json, '')}) ${SUM}`
}

/** The same for rows that are `json` and `position` already. OFFSET 0: the check comes before they are sorted. */
export function printBoundedUnion(rows: string, path: readonly string[], maxBytes: number): string {
  const json = `SELECT ${ROW}.json, ${ROW}.position FROM (${rows}) ${ROW} OFFSET 0`
  const summed = withBytes(json, `, ${JSON_ROW}.position`)
  return `SELECT ${boundedJson(path, maxBytes)} AS json, ${SUM}.position FROM (${summed}) ${SUM} OFFSET 0`
}

/** The size of a value in memory: its bytes as text, and at most four more. */
const withBytes = (json: string, more: string): string =>
  `SELECT ${JSON_ROW}.json${more}, sum(pg_column_size(${JSON_ROW}.json)) OVER (ROWS UNBOUNDED PRECEDING) AS bytes FROM (${json}) ${JSON_ROW}`

function boundedJson(path: readonly string[], maxBytes: number): string {
  const failure = `(${quoteText(TOO_LARGE + path.join('.'))} || left(${SUM}.json::text, 0))::integer::text::json`
  return `CASE WHEN ${SUM}.bytes > ${maxBytes} THEN ${failure} ELSE ${SUM}.json END`
}

/** PostgreSQL computes columns before it sorts, except with a LIMIT: then row by row as they are fetched. */
export const UNLIMITED = ` LIMIT ${INTEGER.most}`

/** The path with the most nested lists, and the number of those lists. */
interface ListChain {
  readonly lists: number
  readonly path: readonly string[]
}

const NO_LISTS: ListChain = { lists: 0, path: [] }

/** The deepest chain of lists in a select. Each list multiplies the work of the lists inside it. */
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
