import type { Alias } from './alias.ts'
import { quoteText } from './identifier.ts'
import type { ListChain } from './list-chain.ts'

/** What PostgreSQL's error begins with where a list is ended because its text is too large; then the path follows. */
export const TOO_LARGE = 'plinth: the answer is too large at '

/** Lists inside of lists from which on a list is ended early: what is less deep is quickly made. */
export const DEEP = 2

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
export const ONE_BY_ONE = ' LIMIT 2147483647'
