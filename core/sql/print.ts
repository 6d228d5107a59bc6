import { type AnswerUses, answerUses, type LayoutOf } from './answer-uses.ts'
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
import { listChain, MIN_BOUNDED_DEPTH, printBounded, printBoundedUnion, UNLIMITED } from './print-bounded.ts'
import { printTableNames, printVersion } from './print-versions.ts'
import { bind, type Statement, type Template } from './statement.ts'

/** Collects the parameters and tables while a statement is printed. */
interface PrintContext {
  readonly parameters: ParameterNode[]
  /** One entry for each occurrence. */
  readonly tables: string[]
  /** Limit in bytes of deeply nested lists; null: none. */
  readonly maxBytes: number | null
  /** The keys that lead to the JSON that is being printed. */
  readonly path: string[]
  /** Functions that are called once, by the names of their rows. */
  readonly shared: Map<Alias, string>
}

/** Prints one statement that returns one row: the JSON text, and the total if the query has one. */
export const printAnswerStatement = (answer: AnswerStatement): Statement => bind(printTemplate(answer), [])

/** Like printAnswerStatement, with parameters that are bound later. */
export function printTemplate(answer: AnswerStatement): Template {
  const context = printContext(answer.maxBytes)
  const text = printUncached(answer, context)
  const { parameters, tables } = context
  const [table, ...others] = tables
  const lone = others.length === 0 && table !== undefined && !answer.total ? { table } : {}
  return { text, parameters, ...lone }
}

export const printContext = (maxBytes: number | null = null): PrintContext => ({
  parameters: [],
  tables: [],
  maxBytes,
  path: [],
  shared: new Map(),
})

/** Separates a list from its cursor. It does not occur in JSON. */
export const SEPARATOR = '\u001E'

/** Prints a select as a statement of its own. */
export function printSelect(node: Select): Template {
  const context = printContext()
  const text = printSelectNode(node, context)
  return { text: withShared(text, context), parameters: context.parameters }
}

/** The statement with the parts that are evaluated once: the matches, and functions that the printed text has called. */
const withShared = (text: string, { shared }: PrintContext, matches: string | null = null): string => {
  const parts = [...shared, ...(matches === null ? [] : [[MATCHES, matches]])]
  const printed = parts.map(([name, part]) => `${name} AS MATERIALIZED (${part})`)
  return printed.length === 0 ? text : `WITH ${printed.join(', ')} ${text}`
}

const printMatches = ({ matches }: AnswerStatement, context: PrintContext): string | null =>
  matches && printSelectNode(matches, context)

/** The SELECT that returns the JSON text. `withIds`: after the ids of its rows, separated by commas, and the separator. */
export function printBody(answer: AnswerStatement, context: PrintContext, withIds = false): string {
  const { form, page, cursor } = answer
  const rows = withIds ? withRowId(answer.rows) : answer.rows
  const input = page ? `WITH ${PAGE} AS MATERIALIZED ${printRows(page, context)} ` : ''
  const printed = printSelectNode(rows, context)
  const json = rows.columns.some(({ as }) => as === ROW_ID)
    ? `(SELECT row_to_json(${PART}) FROM (SELECT ${answer.rows.columns.map(({ as }) => `${ROW}.${quoteIdentifier(as)}`).join(', ')}) ${PART})`
    : `row_to_json(${ROW})`
  const id = withIds ? `${ROW}.${quoteIdentifier(idColumn(rows)?.as ?? ROW_ID)}::text` : ''
  const separator = quoteText(SEPARATOR)
  if (form === 'one')
    return `SELECT ${withIds ? `${id} || ${separator} || ` : ''}${json}::text FROM (${printed}) ${ROW}`
  const ids = withIds ? `coalesce(string_agg(${id}, ','), '') || ${separator} || ` : ''
  const behind = cursor ? ` || ${separator} || ${print(cursor, context)}::text` : ''
  const bounded = withIds ? null : boundedRows(rows, printed, context)
  if (bounded)
    return `${input}SELECT '[' || coalesce(string_agg(${ROW}.json::text, ','), '') || ']'${behind} FROM (${bounded}) ${ROW}`
  return `${input}SELECT ${ids}'[' || coalesce(string_agg(${json}::text, ','), '') || ']'${behind} FROM (${printed}) ${ROW}`
}

/** The rows with their ids, which are not part of the JSON unless it has them anyway. */
function withRowId(rows: Select): Select {
  const [source] = rows.from
  if (!source || idColumn(rows)) return rows
  const id = { as: ROW_ID, expression: { kind: 'column', of: source.alias, name: 'id' } } as const
  return { ...rows, columns: [...rows.columns, id] }
}

/** Cannot collide with an attribute name or alias, which starts with a letter. */
const ROW_ID = '$id'

function idColumn({ columns, from }: Select): Select['columns'][number] | undefined {
  const alias = from[0]?.alias
  return columns.find(({ expression }) => {
    const term = expression.kind === 'cast' ? expression.term : expression
    return term.kind === 'column' && term.of === alias && term.name === 'id'
  })
}

/** null: the list is not deeply nested, so its rows are fast to compute and need no early limit. */
function boundedRows(rows: Select, printed: string, context: PrintContext): string | null {
  const { maxBytes } = context
  if (maxBytes === null) return null
  const { lists, path } = listChain(rows)
  return lists < MIN_BOUNDED_DEPTH ? null : printBounded(printed, [...context.path, ...path], maxBytes)
}

function printList(rows: Select, context: PrintContext): string {
  const printed = printSelectNode(rows, context)
  const bounded = boundedRows(rows, rows.limit ? printed : printed + UNLIMITED, context)
  return bounded
    ? `(SELECT coalesce(json_agg(${ROW}.json), '[]') FROM (${bounded}) ${ROW})`
    : `(SELECT coalesce(json_agg(${ROW}), '[]') FROM (${printed}) ${ROW})`
}

export function printSelectNode(node: Select, context: PrintContext): string {
  const columns = node.columns.map(column => printColumn(column, context))
  const from = node.from.map((source, at) => printSource(source, at, context)).join(' ')
  return `SELECT ${columns.join(', ')}${from === '' ? '' : ` FROM ${from}`}${printWindow(node, context)}`
}

function printColumn({ expression, as }: Select['columns'][number], context: PrintContext): string {
  const isJson = expression.kind === 'row-json' || expression.kind === 'rows-json'
  if (isJson) context.path.push(as)
  const printed = print(expression, context)
  if (isJson) context.path.pop()
  return `${printed} AS ${quoteIdentifier(as)}`
}

function printWindow({ where, order, limit, offset }: RowWindow, context: PrintContext): string {
  let text = ''
  if (where && !(where.kind === 'constant' && where.value === true)) text += ` WHERE ${print(where, context)}`
  if (order.length > 0) text += ` ORDER BY ${order.map(each => printOrder(each, context)).join(', ')}`
  if (limit) text += ` LIMIT ${print(limit, context)}`
  if (offset) text += ` OFFSET ${print(offset, context)}`
  return text
}

function printSource(source: SqlSource, at: number, context: PrintContext): string {
  const { alias, window } = source
  const rows = window ? printRows(source, context) : printTable(source, context)
  if (at === 0) return `${rows} ${alias}`
  return `JOIN ${window ? 'LATERAL ' : ''}${rows} ${alias} ON ${source.on ? print(source.on, context) : 'true'}`
}

function printRows(source: SqlSource, context: PrintContext): string {
  const { alias, window } = source
  const from = `FROM ${printTable(source, context)} ${alias}`
  const { nullKeyRows: rest, deferredJoin: isFar, prefixLimit: reach, ...whole } = window ?? ALL
  if (isFar) {
    const ids = `SELECT ${alias}.id ${from}${printWindow(whole, context)}`
    const order = printWindow({ ...ALL, order: whole.order }, context)
    return `(SELECT ${alias}.* ${from} WHERE ${alias}.id = ANY (ARRAY(${ids}))${order})`
  }
  if (reach) {
    const first = printWindow({ ...whole, limit: reach, offset: null }, context)
    const own = printWindow({ ...whole, where: null, order: [] }, context)
    return `(SELECT ${alias}.* FROM (SELECT ${alias}.* ${from}${first}) ${alias}${own})`
  }
  if (!rest) return `(SELECT ${alias}.* ${from}${printWindow(whole, context)})`
  const parts = [whole.where, rest].map(where => {
    const part = printWindow({ ...whole, where }, context)
    return `(SELECT ${alias}.* ${from}${part})`
  })
  return `(SELECT ${alias}.* FROM (${parts.join(' UNION ALL ')}) ${alias}${printWindow({ ...whole, where: null }, context)})`
}

const ALL: RowWindow = { where: null, order: [], limit: null, offset: null }

function printTable({ table, reads }: SqlSource, context: PrintContext): string {
  context.tables.push(table)
  return reads ? PARTS[reads] : quoteIdentifier(table)
}

const PAGE: Alias = 'page$'
const MATCHES: Alias = 'matches$'
const PARTS = { page: PAGE, matches: MATCHES } as const
const ROW: Alias = 'r$'
const PART: Alias = 'p$'
const UNION: Alias = 'u$'

const printOrder = (order: Order, context: PrintContext): string =>
  `${print(order.expression, context)}${order.direction === 'desc' ? ' DESC' : ''}`

/** Builds the JSON object of each row before the UNION ALL, because the parts have different columns. */
function printUnion(union: Union, context: PrintContext): string {
  const parts = union.parts.map(({ row, position }) => {
    const ordered = { ...row, columns: [...row.columns, { as: POSITION, expression: position }] }
    const keys = row.columns.map(({ as }) => `${PART}.${quoteIdentifier(as)}`).join(', ')
    const json = `(SELECT row_to_json(${ROW}) FROM (SELECT ${keys}) ${ROW})`
    return `SELECT ${json} AS json, ${PART}.${quoteIdentifier(POSITION)} AS position FROM (${printSelectNode(ordered, context)}) ${PART}`
  })
  const rows = boundedUnion(union, parts.join(' UNION ALL '), context)
  const taken = union.limit
    ? `SELECT ${UNION}.json, ${UNION}.position FROM (${rows}) ${UNION} ORDER BY ${UNION}.position LIMIT ${print(union.limit, context)}`
    : rows
  return `(SELECT coalesce(json_agg(${UNION}.json ORDER BY ${UNION}.position), '[]') FROM (${taken}) ${UNION})`
}

function boundedUnion(union: Union, printed: string, context: PrintContext): string {
  const { maxBytes } = context
  const { lists, path } = listChain(union)
  return maxBytes === null || lists < MIN_BOUNDED_DEPTH
    ? printed
    : printBoundedUnion(printed, [...context.path, ...path], maxBytes)
}

/** Cannot collide with an attribute name, which starts with a letter. */
const POSITION = '$position'

type Kind = Expression['kind']
type Print<K extends Kind> = (node: Extract<Expression, { kind: K }>, context: PrintContext) => string

const PRINT: { readonly [K in Kind]: Print<K> } = {
  column: node => `${node.of}.${quoteIdentifier(node.name)}`,
  parameter: (node, context) => printParameter(node, context, ''),
  constant: node => (typeof node.value === 'string' ? quoteText(node.value) : String(node.value)),
  binary: (node, context) => `${print(node.left, context)} ${node.operator} ${print(node.right, context)}`,
  tuple: (node, context) => `(${node.terms.map(term => print(term, context)).join(', ')})`,
  among: (node, context) =>
    `${print(node.left, context)} = ANY (ARRAY(${printSelectNode(node.select, context)}))`,
  'list-test': (node, context) =>
    `${print(node.left, context)} ${node.negated ? '<> ALL' : '= ANY'} (${printParameter(node.list, context, '[]')})`,
  logic: (node, context) => {
    if (node.terms.length === 0) return node.operator === 'and' ? 'true' : 'false'
    return `(${node.terms.map(term => print(term, context)).join(node.operator === 'and' ? ' AND ' : ' OR ')})`
  },
  not: (node, context) => `NOT (${print(node.term, context)})`,
  'null-test': (node, context) => `${print(node.term, context)} IS ${node.negated ? 'NOT ' : ''}NULL`,
  cast: (node, context) => `(${print(node.term, context)})::${node.type}`,
  call: (node, context) => printCall(node, context),
  'shared-call': ({ name, call, column }, context) => {
    if (!context.shared.has(name)) context.shared.set(name, `SELECT * FROM ${printCall(call, context)}`)
    return `(SELECT ${name}.${quoteIdentifier(column)} FROM ${name})`
  },
  exists: (node, context) => `${node.negated ? 'NOT ' : ''}EXISTS (${printSelectNode(node.select, context)})`,
  subquery: (node, context) => `(${printSelectNode(node.select, context)})`,
  'row-json': (node, context) =>
    `(SELECT row_to_json(${ROW}) FROM (${printSelectNode(node.select, context)}) ${ROW})`,
  case: (node, context) =>
    `CASE WHEN ${print(node.when, context)} THEN ${print(node.value, context)} ELSE ${print(node.otherwise, context)} END`,
  'rows-json': (node, context) =>
    node.rows.kind === 'union' ? printUnion(node.rows, context) : printList(node.rows, context),
}

function print(node: Expression, context: PrintContext): string {
  // The table has a printer for exactly this kind, which TypeScript cannot derive from the union.
  return (PRINT[node.kind] as (node: Expression, context: PrintContext) => string)(node, context)
}

function printParameter(node: ParameterNode, context: PrintContext, suffix: '' | '[]'): string {
  context.parameters.push(node)
  return `$${context.parameters.length}::${node.type}${suffix}`
}

/** `utc`: a timestamp without zone, in UTC; `epoch`: whole milliseconds since 1970. */
function printCall({ name, terms }: CallNode, context: PrintContext): string {
  const printed = terms.map(term => print(term, context))
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

/** A statement that also returns the version of its tables, for later validation of the cached answer. */
export interface VersionedTemplate extends Template {
  /** The statement without versions, with the same parameters. */
  readonly uncachedText: string
  /** SQL of the names of all tables that the statement reads (print-versions.ts). Equal versions mean equal answers. */
  readonly tableNames: string
  /** The statement of the total alone; null: no total. */
  readonly total: Template | null
  /** null: every write to its tables may change the answer. With a root, the text follows the ids of its rows. */
  readonly uses: AnswerUses | null
}

/**
 * Prints one statement that returns one row, all from one snapshot: the JSON text or null, and the version of its
 * tables; with a total also the version of the total's tables, and the total, or null if the last parameter, which has
 * no node, equals that version.
 */
export function printVersioned(answer: AnswerStatement, layoutOf: LayoutOf): VersionedTemplate {
  const uncachedText = printUncached(answer, printContext(answer.maxBytes))
  const found = printContext(answer.maxBytes)
  const matches = printMatches(answer, found)
  const uses = usesOf(answer, layoutOf)
  const body = printBody(answer, found, Boolean(uses?.root))
  const { parameters } = found
  if (!answer.total) {
    const tableNames = printTableNames(new Set(found.tables))
    const text = withShared(`SELECT (${body}), (${printVersion(tableNames)})`, found, matches)
    return { text, uncachedText, parameters, tableNames, total: null, uses }
  }
  const alone = printContext()
  const counting = printMatches(answer, alone)
  const totalText = withShared(printSelectNode(answer.total, alone), alone, counting)
  const total = { text: totalText, parameters: alone.parameters }
  const counted = printSelectNode(answer.total, found)
  const known = `$${parameters.length + 1}::text`
  const tableNames = printTableNames(new Set(found.tables))
  const versions = `SELECT (${printVersion(tableNames)}) AS whole, (${printVersion(printTableNames(new Set(alone.tables)))}) AS counted`
  const selected =
    `SELECT (${body}), ${VERSIONS}.whole, ${VERSIONS}.counted, CASE WHEN ${VERSIONS}.counted = ${known} THEN NULL ELSE (${counted}) END ` +
    `FROM (${versions} OFFSET 0) ${VERSIONS}`
  const text = withShared(selected, found, matches)
  return { text, uncachedText, parameters, tableNames, total, uses }
}

/** The rows of a deeply nested list have no ids: its text is bounded while it is built. */
function usesOf(answer: AnswerStatement, layoutOf: LayoutOf): AnswerUses | null {
  const uses = answerUses(answer, layoutOf)
  if (!uses?.root || answer.form === 'one' || answer.maxBytes === null) return uses
  return listChain(answer.rows).lists < MIN_BOUNDED_DEPTH ? uses : { ...uses, root: null }
}

function printUncached(answer: AnswerStatement, context: PrintContext): string {
  const matches = printMatches(answer, context)
  const body = printBody(answer, context)
  const text = answer.total ? `SELECT (${body}), (${printSelectNode(answer.total, context)})` : body
  return withShared(text, context, matches)
}

const VERSIONS: Alias = 'v$'
