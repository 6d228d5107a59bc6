import type { AnswerStatement, Expression, ParameterNode, SqlSource } from './nodes.ts'
import type { ChangeLayout } from './version-ddl.ts'

/** How the updates of a table are recorded; null: they are not. */
export type LayoutOf = (table: string) => ChangeLayout | null

/** What an answer depends on, apart from the number of writes to its tables. */
export interface AnswerUses {
  /** The tables whose updates are recorded. */
  readonly tables: ReadonlyMap<string, TableUses>
  /** null: the rows of the answer are not known, so a change of any row may matter. */
  readonly root: RootUses | null
}

interface TableUses {
  /** The columns that the statement reads, as bits of recorded updates. */
  readonly columns: bigint
  readonly layout: string
}

/** The table that the rows of the answer come from. The statement reads it nowhere else, except to count it. */
export interface RootUses {
  readonly table: string
  /** The columns that decide which rows are found and in which order, as bits. */
  readonly deciding: bigint
  /** The rows have this documentId; null: any. */
  readonly documentId: ParameterNode | null
  /** True if rows other than those of the answer may be removed without a change of it. */
  readonly ignoresRemoved: boolean
}

/** null: every write to one of its tables may change the answer. */
export function answerUses(answer: AnswerStatement, layoutOf: LayoutOf): AnswerUses | null {
  const all = collect(answer)
  const tables = new Map(
    [...all.tables].flatMap(table => {
      const layout = layoutOf(table)
      return layout ? [[table, { columns: all.bitsOf(table, layout), layout: layout.digest }] as const] : []
    }),
  )
  return tables.size === 0 ? null : { tables, root: rootUses(answer, layoutOf) }
}

function rootUses(answer: AnswerStatement, layoutOf: LayoutOf): RootUses | null {
  const { rows, total, page, matches } = answer
  const [source, ...others] = rows.from
  const layout = source && layoutOf(source.table)
  if (!source || !layout || others.length > 0 || matches || !answersRows(answer)) return null
  const { table } = source
  // The columns of the answer are computed for its rows only, so they decide nothing.
  const deciding = collect({ ...answer, rows: { ...rows, columns: [] } })
  const shown = collect(rows.columns)
  const counted = total?.from.filter(one => one.table === table).length ?? 0
  if (shown.tables.has(table) || deciding.timesOf(table) !== counted + (page ? 2 + readsOfPage(answer) : 1))
    return null
  return {
    table,
    deciding: deciding.bitsOf(table, layout),
    documentId: total || page ? null : documentIdOf(source),
    ignoresRemoved: !total && !page && !source.window?.offset,
  }
}

/** The rows of a list that is not nested deeply, or one row. */
const answersRows = ({ rows }: AnswerStatement): boolean =>
  rows.where === null && rows.order.length === 0 && rows.limit === null && rows.offset === null

/** How often the cursor reads the rows of the page. */
const readsOfPage = ({ cursor, page }: AnswerStatement): number =>
  cursor && page ? collect(cursor).timesOf(page.table) : 0

function documentIdOf({ alias, window }: SqlSource): ParameterNode | null {
  if (!window?.where || window.nullKeyRows) return null
  const found = conjuncts(window.where).flatMap(term =>
    term.kind === 'binary' &&
    term.operator === '=' &&
    term.left.kind === 'column' &&
    term.left.of === alias &&
    term.left.name === 'document_id' &&
    term.right.kind === 'parameter' &&
    term.right.type === 'text' &&
    !term.right.pattern
      ? [term.right]
      : [],
  )
  return found[0] ?? null
}

const conjuncts = (term: Expression): readonly Expression[] =>
  term.kind === 'logic' && term.operator === 'and' ? term.terms.flatMap(conjuncts) : [term]

interface Collected {
  readonly tables: ReadonlySet<string>
  timesOf(table: string): number
  /** The columns of the table that are read. A column that is not recorded sets all bits. */
  bitsOf(table: string, layout: ChangeLayout): bigint
}

const ALL_BITS = -1n

/** Walks any part of a statement. Aliases are unique in it. */
function collect(part: object): Collected {
  const sources: { readonly table: string; readonly alias: string }[] = []
  const columns: { readonly of: string; readonly name: string }[] = []
  const visit = (node: unknown): void => {
    if (typeof node !== 'object' || node === null) return
    if ('table' in node && 'alias' in node) sources.push(node as (typeof sources)[number])
    if ('kind' in node && node.kind === 'column') columns.push(node as unknown as (typeof columns)[number])
    for (const each of Object.values(node)) visit(each)
  }
  visit(part)
  return {
    tables: new Set(sources.map(({ table }) => table)),
    timesOf: table => sources.filter(source => source.table === table).length,
    bitsOf(table, { bits }) {
      const aliases = new Set(sources.filter(source => source.table === table).map(({ alias }) => alias))
      return columns
        .filter(({ of, name }) => aliases.has(of) && name !== 'id')
        .reduce((sum, { name }) => sum | (bits.get(name) ?? ALL_BITS), 0n)
    },
  }
}
