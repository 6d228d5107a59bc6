import { type Alias, quoteIdentifier, quoteText } from './identifier.ts'
import type {
  AnswerStatement,
  CallNode,
  Expression,
  Order,
  ParameterNode,
  RowWindow,
  Select,
  SqlSource,
  Union,
} from './nodes.ts'
import { listChain, MIN_BOUNDED_DEPTH, printBounded, UNLIMITED } from './print-bounded.ts'
import { bind, type Statement, type Template } from './statement.ts'

/** What printing comes upon. */
interface PrintContext {
  readonly parameters: ParameterNode[]
  /** As often as they stand there. */
  readonly tables: string[]
  /** The most bytes of a list of lists of lists; null: any number. */
  readonly maxBytes: number | null
}

/** Prints an answer as one statement of one row: the JSON text, then the total where asked. */
export const printAnswerStatement = (answer: AnswerStatement): Statement => bind(printTemplate(answer), [])

/** The same for any values in the places that have one. */
export function printTemplate(answer: AnswerStatement): Template {
  const found = printContext(answer.maxBytes)
  const body = printBody(answer, found)
  const [table, ...others] = found.tables
  const lone = others.length === 0 && table !== undefined ? { table } : {}
  if (!answer.total) return { text: body, parameters: found.parameters, ...lone }
  const text = `SELECT (${body}), (${printSelectNode(answer.total, found)})`
  return { text, parameters: found.parameters }
}

export const printContext = (maxBytes: number | null = null): PrintContext => ({
  parameters: [],
  tables: [],
  maxBytes,
})

/** Between a list and its cursor: JSON has it nowhere. */
export const SEPARATOR = '\u001E'

/** The statement of the JSON text. */
export function printBody({ form, page, rows, cursor }: AnswerStatement, found: PrintContext): string {
  const given = page ? `WITH ${PAGE} AS MATERIALIZED ${printRows(page, found)} ` : ''
  const printed = printSelectNode(rows, found)
  if (form === 'one') return `SELECT row_to_json(${ROW})::text FROM (${printed}) ${ROW}`
  const behind = cursor ? ` || ${quoteText(SEPARATOR)} || ${print(cursor, found)}::text` : ''
  const bounded = boundedRows(rows, printed, found)
  if (bounded)
    return `${given}SELECT '[' || coalesce(string_agg(${ROW}.text, ','), '') || ']'${behind} FROM (${bounded}) ${ROW}`
  return `${given}SELECT '[' || coalesce(string_agg(row_to_json(${ROW})::text, ','), '') || ']'${behind} FROM (${printed}) ${ROW}`
}

/** null: the list is not deep, so that its rows cannot take long before their bytes arrive. */
function boundedRows(rows: Select, printed: string, { maxBytes }: PrintContext): string | null {
  if (maxBytes === null) return null
  const chain = listChain(rows)
  return chain.lists < MIN_BOUNDED_DEPTH ? null : printBounded(printed, chain, maxBytes)
}

function printList(rows: Select, found: PrintContext): string {
  const printed = printSelectNode(rows, found)
  const bounded = boundedRows(rows, rows.limit ? printed : printed + UNLIMITED, found)
  return bounded
    ? `(SELECT coalesce(json_agg(${ROW}.text::json), '[]') FROM (${bounded}) ${ROW})`
    : `(SELECT coalesce(json_agg(${ROW}), '[]') FROM (${printed}) ${ROW})`
}

export function printSelectNode(node: Select, found: PrintContext): string {
  const columns = node.columns.map(
    ({ expression, as }) => `${print(expression, found)} AS ${quoteIdentifier(as)}`,
  )
  const from = node.from.map((source, at) => printSource(source, at, found)).join(' ')
  return `SELECT ${columns.join(', ')}${from === '' ? '' : ` FROM ${from}`}${printWindow(node, found)}`
}

function printWindow({ where, order, limit, offset }: RowWindow, found: PrintContext): string {
  let text = ''
  if (where && !(where.kind === 'constant' && where.value === true)) text += ` WHERE ${print(where, found)}`
  if (order.length > 0) text += ` ORDER BY ${order.map(each => printOrder(each, found)).join(', ')}`
  if (limit) text += ` LIMIT ${print(limit, found)}`
  if (offset) text += ` OFFSET ${print(offset, found)}`
  return text
}

function printSource(source: SqlSource, at: number, found: PrintContext): string {
  const { alias, window } = source
  const rows = window ? printRows(source, found) : printTable(source, found)
  if (at === 0) return `${rows} ${alias}`
  return `JOIN ${rows} ${alias} ON ${source.on ? print(source.on, found) : 'true'}`
}

function printRows(source: SqlSource, found: PrintContext): string {
  const { alias, window } = source
  const from = `FROM ${printTable(source, found)} ${alias}`
  const { nullKeyRows: rest, deferredJoin: isFar, prefixLimit: reach, ...whole } = window ?? ALL
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

const ALL: RowWindow = { where: null, order: [], limit: null, offset: null }

function printTable({ table, isPage }: SqlSource, found: PrintContext): string {
  found.tables.push(table)
  return isPage ? PAGE : quoteIdentifier(table)
}

const PAGE: Alias = 'page$'
const ROW: Alias = 'r$'
const PART: Alias = 'p$'
const UNION: Alias = 'u$'

const printOrder = (order: Order, found: PrintContext): string =>
  `${print(order.expression, found)}${order.direction === 'desc' ? ' DESC' : ''}`

/** Parts in one order; each row's object is made before the parts are put together, for their columns differ. */
function printUnion(union: Union, found: PrintContext): string {
  const parts = union.parts.map(({ row, position }) => {
    const ordered = { ...row, columns: [...row.columns, { as: POSITION, expression: position }] }
    const keys = row.columns.map(({ as }) => `${PART}.${quoteIdentifier(as)}`).join(', ')
    const json = `(SELECT row_to_json(${ROW}) FROM (SELECT ${keys}) ${ROW})`
    return `SELECT ${json} AS json, ${PART}.${quoteIdentifier(POSITION)} AS position FROM (${printSelectNode(ordered, found)}) ${PART}`
  })
  return `(SELECT coalesce(json_agg(${UNION}.json ORDER BY ${UNION}.position), '[]') FROM (${parts.join(' UNION ALL ')}) ${UNION})`
}

/** Never the name of an attribute: those begin with a letter. */
const POSITION = '$position'

type Kind = Expression['kind']
type Print<K extends Kind> = (node: Extract<Expression, { kind: K }>, found: PrintContext) => string

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
  exists: (node, found) => `${node.negated ? 'NOT ' : ''}EXISTS (${printSelectNode(node.select, found)})`,
  subquery: (node, found) => `(${printSelectNode(node.select, found)})`,
  'row-json': (node, found) =>
    `(SELECT row_to_json(${ROW}) FROM (${printSelectNode(node.select, found)}) ${ROW})`,
  'rows-json': (node, found) =>
    node.rows.kind === 'union' ? printUnion(node.rows, found) : printList(node.rows, found),
}

function print(node: Expression, found: PrintContext): string {
  // One cast: the table has a printer for exactly this kind, which the compiler cannot tie to the union by itself.
  return (PRINT[node.kind] as (node: Expression, found: PrintContext) => string)(node, found)
}

function printParameter(node: ParameterNode, found: PrintContext, suffix: '' | '[]'): string {
  found.parameters.push(node)
  return `$${found.parameters.length}::${node.type}${suffix}`
}

/** `utc`: a timestamp without zone, in UTC; `epoch`: whole milliseconds since 1970. */
function printCall({ name, terms }: CallNode, found: PrintContext): string {
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
