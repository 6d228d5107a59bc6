import type { Expression, Select, Union } from './nodes.ts'

/** The keys that lead through the most lists inside of one another, and how many lists those are. */
export interface ListChain {
  readonly lists: number
  readonly path: readonly string[]
}

const NONE: ListChain = { lists: 0, path: [] }

/** Of the rows of a select. Each list multiplies the work of the lists inside of it. */
export const listChain = (rows: Select | Union): ListChain =>
  rows.kind === 'union' ? longest(rows.parts.map(({ row }) => chainOf(row))) : chainOf(rows)

const chainOf = ({ columns }: Select): ListChain =>
  longest(
    columns.map(({ as, expression }) => {
      const { lists, path } = chainIn(expression)
      return lists === 0 ? NONE : { lists, path: [as, ...path] }
    }),
  )

function chainIn(expression: Expression): ListChain {
  switch (expression.kind) {
    case 'row-json':
      return chainOf(expression.select)
    case 'rows-json': {
      const { lists, path } = listChain(expression.rows)
      return { lists: lists + 1, path }
    }
    default:
      return NONE
  }
}

const longest = (chains: readonly ListChain[]): ListChain =>
  chains.reduce((most, chain) => (chain.lists > most.lists ? chain : most), NONE)
