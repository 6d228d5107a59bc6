import { quoteIdentifier, quoteText } from './identifier.ts'
import type {
  Answer,
  CallNode,
  Expression,
  Order,
  ParameterNode,
  ParameterValue,
  Select,
  Source,
  Union,
  Window,
} from './nodes.ts'
import type { Statement } from './statement.ts'

/** Prints an answer as one statement of one row: the JSON text, then the total where asked. */
export function printAnswer(answer: Answer): Statement {
  const values: ParameterValue[] = []
  const rows = printSelect(answer.rows, values)
  const body =
    answer.form === 'one'
      ? `SELECT row_to_json(r)::text FROM (${rows}) r`
      : `SELECT '[' || coalesce(string_agg(row_to_json(r)::text, ','), '') || ']' FROM (${rows}) r`
  if (!answer.total) return { text: body, values }
  return { text: `SELECT (${body}), (${printSelect(answer.total, values)})`, values }
}

export function printSelect(node: Select, values: ParameterValue[]): string {
  const columns = node.columns.map(
    ({ expression, as }) => `${print(expression, values)} AS ${quoteIdentifier(as)}`,
  )
  const from = node.from.map((source, at) => printSource(source, at, values)).join(' ')
  return `SELECT ${columns.join(', ')}${from === '' ? '' : ` FROM ${from}`}${printWindow(node, values)}`
}

function printWindow({ where, order, limit, offset }: Window, values: ParameterValue[]): string {
  let text = ''
  if (where && !(where.kind === 'constant' && where.value === true)) text += ` WHERE ${print(where, values)}`
  if (order.length > 0) text += ` ORDER BY ${order.map(each => printOrder(each, values)).join(', ')}`
  if (limit) text += ` LIMIT ${print(limit, values)}`
  if (offset) text += ` OFFSET ${print(offset, values)}`
  return text
}

function printSource(source: Source, at: number, values: ParameterValue[]): string {
  const { alias, window } = source
  const named = `${quoteIdentifier(source.table)} ${alias}`
  const table = window ? `(SELECT ${alias}.* FROM ${named}${printWindow(window, values)}) ${alias}` : named
  if (at === 0) return table
  return `JOIN ${table} ON ${source.on ? print(source.on, values) : 'true'}`
}

const printOrder = (order: Order, values: ParameterValue[]): string =>
  `${print(order.expression, values)}${order.direction === 'desc' ? ' DESC' : ''}`

/** Parts in one order; each row's object is made before the parts are put together, for their columns differ. */
function printUnion(union: Union, values: ParameterValue[]): string {
  const parts = union.parts.map(({ row, position }) => {
    const ordered = { ...row, columns: [...row.columns, { as: POSITION, expression: position }] }
    const keys = row.columns.map(({ as }) => `p.${quoteIdentifier(as)}`).join(', ')
    const json = `(SELECT row_to_json(o) FROM (SELECT ${keys}) o)`
    return `SELECT ${json} AS json, p.${quoteIdentifier(POSITION)} AS position FROM (${printSelect(ordered, values)}) p`
  })
  return `(SELECT coalesce(json_agg(u.json ORDER BY u.position), '[]') FROM (${parts.join(' UNION ALL ')}) u)`
}

/** Never the name of an attribute: those begin with a letter. */
const POSITION = '$position'

type Kind = Expression['kind']
type Print<K extends Kind> = (node: Extract<Expression, { kind: K }>, values: ParameterValue[]) => string

const PRINT: { readonly [K in Kind]: Print<K> } = {
  column: node => `${node.of}.${quoteIdentifier(node.name)}`,
  parameter: (node, values) => printParameter(node, values, ''),
  constant: node => (typeof node.value === 'string' ? quoteText(node.value) : String(node.value)),
  binary: (node, values) => `${print(node.left, values)} ${node.operator} ${print(node.right, values)}`,
  'list-test': (node, values) =>
    `${print(node.left, values)} ${node.negated ? '<> ALL' : '= ANY'} (${printParameter(node.list, values, '[]')})`,
  logic: (node, values) => {
    if (node.terms.length === 0) return node.operator === 'and' ? 'true' : 'false'
    return `(${node.terms.map(term => print(term, values)).join(node.operator === 'and' ? ' AND ' : ' OR ')})`
  },
  not: (node, values) => `NOT (${print(node.term, values)})`,
  'null-test': (node, values) => `${print(node.term, values)} IS ${node.negated ? 'NOT ' : ''}NULL`,
  cast: (node, values) => `(${print(node.term, values)})::${node.type}`,
  call: (node, values) => printCall(node, values),
  exists: (node, values) => `${node.negated ? 'NOT ' : ''}EXISTS (${printSelect(node.select, values)})`,
  subquery: (node, values) => `(${printSelect(node.select, values)})`,
  'row-json': (node, values) => `(SELECT row_to_json(r) FROM (${printSelect(node.select, values)}) r)`,
  'rows-json': (node, values) =>
    node.rows.kind === 'union'
      ? printUnion(node.rows, values)
      : `(SELECT coalesce(json_agg(r), '[]') FROM (${printSelect(node.rows, values)}) r)`,
}

function print(node: Expression, values: ParameterValue[]): string {
  // One cast: the table has a printer for exactly this kind, which the compiler cannot tie to the union by itself.
  return (PRINT[node.kind] as (node: Expression, values: ParameterValue[]) => string)(node, values)
}

function printParameter(node: ParameterNode, values: ParameterValue[], suffix: '' | '[]'): string {
  values.push(node.value)
  return `$${values.length}::${node.type}${suffix}`
}

/** `utc`: a timestamp without zone, in UTC; `epoch`: whole milliseconds since 1970. */
function printCall({ name, terms }: CallNode, values: ParameterValue[]): string {
  const printed = terms.map(term => print(term, values))
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
