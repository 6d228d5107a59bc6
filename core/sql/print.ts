import { quoteIdentifier, quoteText } from './identifier.ts'
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
import type { Statement } from './statement.ts'
import { bind, type Template } from './template.ts'

/** Prints an answer as one statement of one row: the JSON text, then the total where asked. */
export const printAnswer = (answer: Answer): Statement => bind(printTemplate(answer), [])

/** The same for any values in the places that have one. */
export function printTemplate(answer: Answer): Template {
  const parameters: ParameterNode[] = []
  const rows = printSelect(answer.rows, parameters)
  const body =
    answer.form === 'one'
      ? `SELECT row_to_json(r)::text FROM (${rows}) r`
      : `SELECT '[' || coalesce(string_agg(row_to_json(r)::text, ','), '') || ']' FROM (${rows}) r`
  if (!answer.total) return { text: body, parameters }
  return { text: `SELECT (${body}), (${printSelect(answer.total, parameters)})`, parameters }
}

function printSelect(node: Select, parameters: ParameterNode[]): string {
  const columns = node.columns.map(
    ({ expression, as }) => `${print(expression, parameters)} AS ${quoteIdentifier(as)}`,
  )
  const from = node.from.map((source, at) => printSource(source, at, parameters)).join(' ')
  return `SELECT ${columns.join(', ')}${from === '' ? '' : ` FROM ${from}`}${printWindow(node, parameters)}`
}

function printWindow({ where, order, limit, offset }: Window, parameters: ParameterNode[]): string {
  let text = ''
  if (where && !(where.kind === 'constant' && where.value === true))
    text += ` WHERE ${print(where, parameters)}`
  if (order.length > 0) text += ` ORDER BY ${order.map(each => printOrder(each, parameters)).join(', ')}`
  if (limit) text += ` LIMIT ${print(limit, parameters)}`
  if (offset) text += ` OFFSET ${print(offset, parameters)}`
  return text
}

function printSource(source: Source, at: number, parameters: ParameterNode[]): string {
  const { alias, window } = source
  const named = `${quoteIdentifier(source.table)} ${alias}`
  const table = window
    ? `(SELECT ${alias}.* FROM ${named}${printWindow(window, parameters)}) ${alias}`
    : named
  if (at === 0) return table
  return `JOIN ${table} ON ${source.on ? print(source.on, parameters) : 'true'}`
}

const printOrder = (order: Order, parameters: ParameterNode[]): string =>
  `${print(order.expression, parameters)}${order.direction === 'desc' ? ' DESC' : ''}`

/** Parts in one order; each row's object is made before the parts are put together, for their columns differ. */
function printUnion(union: Union, parameters: ParameterNode[]): string {
  const parts = union.parts.map(({ row, position }) => {
    const ordered = { ...row, columns: [...row.columns, { as: POSITION, expression: position }] }
    const keys = row.columns.map(({ as }) => `p.${quoteIdentifier(as)}`).join(', ')
    const json = `(SELECT row_to_json(o) FROM (SELECT ${keys}) o)`
    return `SELECT ${json} AS json, p.${quoteIdentifier(POSITION)} AS position FROM (${printSelect(ordered, parameters)}) p`
  })
  return `(SELECT coalesce(json_agg(u.json ORDER BY u.position), '[]') FROM (${parts.join(' UNION ALL ')}) u)`
}

/** Never the name of an attribute: those begin with a letter. */
const POSITION = '$position'

type Kind = Expression['kind']
type Print<K extends Kind> = (node: Extract<Expression, { kind: K }>, parameters: ParameterNode[]) => string

const PRINT: { readonly [K in Kind]: Print<K> } = {
  column: node => `${node.of}.${quoteIdentifier(node.name)}`,
  parameter: (node, parameters) => printParameter(node, parameters, ''),
  constant: node => (typeof node.value === 'string' ? quoteText(node.value) : String(node.value)),
  binary: (node, parameters) =>
    `${print(node.left, parameters)} ${node.operator} ${print(node.right, parameters)}`,
  'list-test': (node, parameters) =>
    `${print(node.left, parameters)} ${node.negated ? '<> ALL' : '= ANY'} (${printParameter(node.list, parameters, '[]')})`,
  logic: (node, parameters) => {
    if (node.terms.length === 0) return node.operator === 'and' ? 'true' : 'false'
    return `(${node.terms.map(term => print(term, parameters)).join(node.operator === 'and' ? ' AND ' : ' OR ')})`
  },
  not: (node, parameters) => `NOT (${print(node.term, parameters)})`,
  'null-test': (node, parameters) => `${print(node.term, parameters)} IS ${node.negated ? 'NOT ' : ''}NULL`,
  cast: (node, parameters) => `(${print(node.term, parameters)})::${node.type}`,
  call: (node, parameters) => printCall(node, parameters),
  exists: (node, parameters) =>
    `${node.negated ? 'NOT ' : ''}EXISTS (${printSelect(node.select, parameters)})`,
  subquery: (node, parameters) => `(${printSelect(node.select, parameters)})`,
  'row-json': (node, parameters) =>
    `(SELECT row_to_json(r) FROM (${printSelect(node.select, parameters)}) r)`,
  'rows-json': (node, parameters) =>
    node.rows.kind === 'union'
      ? printUnion(node.rows, parameters)
      : `(SELECT coalesce(json_agg(r), '[]') FROM (${printSelect(node.rows, parameters)}) r)`,
}

function print(node: Expression, parameters: ParameterNode[]): string {
  // One cast: the table has a printer for exactly this kind, which the compiler cannot tie to the union by itself.
  return (PRINT[node.kind] as (node: Expression, parameters: ParameterNode[]) => string)(node, parameters)
}

function printParameter(node: ParameterNode, parameters: ParameterNode[], suffix: '' | '[]'): string {
  parameters.push(node)
  return `$${parameters.length}::${node.type}${suffix}`
}

/** `utc`: a timestamp without zone, in UTC; `epoch`: whole milliseconds since 1970. */
function printCall({ name, terms }: CallNode, parameters: ParameterNode[]): string {
  const printed = terms.map(term => print(term, parameters))
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
