import type { Alias } from './alias.ts'
import { quoteIdentifier, quoteText } from './identifier.ts'
import { listChain } from './list-chain.ts'
import type {
  Answer,
  CallNode,
  Expression,
  Order,
  ParameterNode,
  Select,
  Source,
  Union,
  Window,
} from './nodes.ts'
import { DEEP, ONE_BY_ONE, printBounded } from './print-bounded.ts'
import type { Statement } from './statement.ts'
import { bind, type Template } from './template.ts'

/** What printing comes upon. */
interface Found {
  readonly parameters: ParameterNode[]
  /** As often as they stand there. */
  readonly tables: string[]
  /** The most bytes of a list of lists of lists; null: any number. */
  readonly maxBytes: number | null
}

/** Prints an answer as one statement of one row: the JSON text, then the total where asked. */
export const printAnswer = (answer: Answer): Statement => bind(printTemplate(answer), [])

/** The same for any values in the places that have one. */
export function printTemplate(answer: Answer): Template {
  const found = nothing(answer.maxBytes)
  const body = printBody(answer, found)
  const [table, ...others] = found.tables
  const lone = others.length === 0 && table !== undefined ? { table } : {}
  if (!answer.total) return { text: body, parameters: found.parameters, ...lone }
  const text = `SELECT (${body}), (${printSelect(answer.total, found)})`
  return { text, parameters: found.parameters }
}

export const nothing = (maxBytes: number | null = null): Found => ({ parameters: [], tables: [], maxBytes })

/** Between a list and its cursor: JSON has it nowhere. */
export const SEPARATOR = '\u001E'

/** The statement of the JSON text. */
export function printBody({ form, page, rows, cursor }: Answer, found: Found): string {
  const given = page ? `WITH ${PAGE} AS MATERIALIZED ${printRows(page, found)} ` : ''
  const printed = printSelect(rows, found)
  if (form === 'one') return `SELECT row_to_json(${ROW})::text FROM (${printed}) ${ROW}`
  const behind = cursor ? ` || ${quoteText(SEPARATOR)} || ${print(cursor, found)}::text` : ''
  const bounded = boundedRows(rows, printed, found)
  if (bounded)
    return `${given}SELECT '[' || coalesce(string_agg(${ROW}.text, ','), '') || ']'${behind} FROM (${bounded}) ${ROW}`
  return `${given}SELECT '[' || coalesce(string_agg(row_to_json(${ROW})::text, ','), '') || ']'${behind} FROM (${printed}) ${ROW}`
}

/** null: the list is not deep, so that its rows cannot take long before their bytes arrive. */
function boundedRows(rows: Select, printed: string, { maxBytes }: Found): string | null {
  if (maxBytes === null) return null
  const chain = listChain(rows)
  return chain.lists < DEEP ? null : printBounded(printed, chain, maxBytes)
}

function printList(rows: Select, found: Found): string {
  const printed = printSelect(rows, found)
  const bounded = boundedRows(rows, rows.limit ? printed : printed + ONE_BY_ONE, found)
  return bounded
    ? `(SELECT coalesce(json_agg(${ROW}.text::json), '[]') FROM (${bounded}) ${ROW})`
    : `(SELECT coalesce(json_agg(${ROW}), '[]') FROM (${printed}) ${ROW})`
}

export function printSelect(node: Select, found: Found): string {
  const columns = node.columns.map(
    ({ expression, as }) => `${print(expression, found)} AS ${quoteIdentifier(as)}`,
  )
  const from = node.from.map((source, at) => printSource(source, at, found)).join(' ')
  return `SELECT ${columns.join(', ')}${from === '' ? '' : ` FROM ${from}`}${printWindow(node, found)}`
}

function printWindow({ where, order, limit, offset }: Window, found: Found): string {
  let text = ''
  if (where && !(where.kind === 'constant' && where.value === true)) text += ` WHERE ${print(where, found)}`
  if (order.length > 0) text += ` ORDER BY ${order.map(each => printOrder(each, found)).join(', ')}`
  if (limit) text += ` LIMIT ${print(limit, found)}`
  if (offset) text += ` OFFSET ${print(offset, found)}`
  return text
}

function printSource(source: Source, at: number, found: Found): string {
  const { alias, window } = source
  const rows = window ? printRows(source, found) : printTable(source, found)
  if (at === 0) return `${rows} ${alias}`
  return `JOIN ${rows} ${alias} ON ${source.on ? print(source.on, found) : 'true'}`
}

function printRows(source: Source, found: Found): string {
  const { alias, window } = source
  const from = `FROM ${printTable(source, found)} ${alias}`
  const { rest, isFar, reach, ...whole } = window ?? ALL
  if (isFar) {
    const ids = `SELECT ${alias}.id ${from}${printWindow(whole, found)}`
    const order = printWindow({ ...ALL, order: whole.order }, found)
    return `(SELECT ${alias}.* ${from} WHERE ${alias}.id = ANY (ARRAY(${ids}))${order})`
  }
  if (reach) {
    const first = printWindow({ ...whole, limit: reach, offset: null }, found)
    const own = printWindow({ ...whole, where: null, order: [] }, found)
    return `(SELECT ${alias}.* FROM (SELECT ${alias}.* ${from}${first}) ${alias}${own})`
  }
  if (!rest) return `(SELECT ${alias}.* ${from}${printWindow(whole, found)})`
  const parts = [whole.where, rest].map(where => {
    const part = printWindow({ ...whole, where }, found)
    return `(SELECT ${alias}.* ${from}${part})`
  })
  return `(SELECT ${alias}.* FROM (${parts.join(' UNION ALL ')}) ${alias}${printWindow({ ...whole, where: null }, found)})`
}

const ALL: Window = { where: null, order: [], limit: null, offset: null }

function printTable({ table, isPage }: Source, found: Found): string {
  found.tables.push(table)
  return isPage ? PAGE : quoteIdentifier(table)
}

const PAGE: Alias = 'page$'
const ROW: Alias = 'r$'
const PART: Alias = 'p$'
const UNION: Alias = 'u$'

const printOrder = (order: Order, found: Found): string =>
  `${print(order.expression, found)}${order.direction === 'desc' ? ' DESC' : ''}`

/** Parts in one order; each row's object is made before the parts are put together, for their columns differ. */
function printUnion(union: Union, found: Found): string {
  const parts = union.parts.map(({ row, position }) => {
    const ordered = { ...row, columns: [...row.columns, { as: POSITION, expression: position }] }
    const keys = row.columns.map(({ as }) => `${PART}.${quoteIdentifier(as)}`).join(', ')
    const json = `(SELECT row_to_json(${ROW}) FROM (SELECT ${keys}) ${ROW})`
    return `SELECT ${json} AS json, ${PART}.${quoteIdentifier(POSITION)} AS position FROM (${printSelect(ordered, found)}) ${PART}`
  })
  return `(SELECT coalesce(json_agg(${UNION}.json ORDER BY ${UNION}.position), '[]') FROM (${parts.join(' UNION ALL ')}) ${UNION})`
}

/** Never the name of an attribute: those begin with a letter. */
const POSITION = '$position'

type Kind = Expression['kind']
type Print<K extends Kind> = (node: Extract<Expression, { kind: K }>, found: Found) => string

const PRINT: { readonly [K in Kind]: Print<K> } = {
  column: node => `${node.of}.${quoteIdentifier(node.name)}`,
  parameter: (node, found) => printParameter(node, found, ''),
  constant: node => (typeof node.value === 'string' ? quoteText(node.value) : String(node.value)),
  binary: (node, found) => `${print(node.left, found)} ${node.operator} ${print(node.right, found)}`,
  tuple: (node, found) => `(${node.terms.map(term => print(term, found)).join(', ')})`,
  'list-test': (node, found) =>
    `${print(node.left, found)} ${node.negated ? '<> ALL' : '= ANY'} (${printParameter(node.list, found, '[]')})`,
  logic: (node, found) => {
    if (node.terms.length === 0) return node.operator === 'and' ? 'true' : 'false'
    return `(${node.terms.map(term => print(term, found)).join(node.operator === 'and' ? ' AND ' : ' OR ')})`
  },
  not: (node, found) => `NOT (${print(node.term, found)})`,
  'null-test': (node, found) => `${print(node.term, found)} IS ${node.negated ? 'NOT ' : ''}NULL`,
  cast: (node, found) => `(${print(node.term, found)})::${node.type}`,
  call: (node, found) => printCall(node, found),
  exists: (node, found) => `${node.negated ? 'NOT ' : ''}EXISTS (${printSelect(node.select, found)})`,
  subquery: (node, found) => `(${printSelect(node.select, found)})`,
  'row-json': (node, found) =>
    `(SELECT row_to_json(${ROW}) FROM (${printSelect(node.select, found)}) ${ROW})`,
  'rows-json': (node, found) =>
    node.rows.kind === 'union' ? printUnion(node.rows, found) : printList(node.rows, found),
}

function print(node: Expression, found: Found): string {
  // One cast: the table has a printer for exactly this kind, which the compiler cannot tie to the union by itself.
  return (PRINT[node.kind] as (node: Expression, found: Found) => string)(node, found)
}

function printParameter(node: ParameterNode, found: Found, suffix: '' | '[]'): string {
  found.parameters.push(node)
  return `$${found.parameters.length}::${node.type}${suffix}`
}

/** `utc`: a timestamp without zone, in UTC; `epoch`: whole milliseconds since 1970. */
function printCall({ name, terms }: CallNode, found: Found): string {
  const printed = terms.map(term => print(term, found))
  switch (name) {
    case 'utc':
      return `(${printed.join()} AT TIME ZONE 'UTC')`
    case 'epoch':
      return `(extract(epoch FROM ${printed.join()}) * 1000)::bigint`
    case 'count':
      return 'count(*)'
    default:
      return `${name}(${printed.join(', ')})`
  }
}
