import { comparedAttributes } from '../../core/access/compile/expected-lists.ts'
import type { Database, Transaction } from '../../core/database/database.ts'
import { runAndRollBack } from '../../core/migrate/plan-migration.ts'
import { fitsIndex } from '../../core/model/columns.ts'
import type { ContentType, ScalarAttribute } from '../../core/model/model.ts'
import type { Index, Storage } from '../../core/model/storage.ts'
import { declaredIndex, isIndexPrefix } from '../../core/model/type-indexes.ts'
import { planQuery } from '../../core/plan/plan-query.ts'
import type { Query, RestrictedQuery } from '../../core/query/query.ts'
import { printIndex } from '../../core/sql/ddl.ts'
import { quoteIdentifier as ident } from '../../core/sql/identifier.ts'
import { printAnswerStatement } from '../../core/sql/print.ts'

/** An index that a type could declare. */
export interface Proposal {
  readonly type: ContentType
  /** In the form of the key `indexes`. */
  readonly attributes: readonly string[]
  readonly index: Index
}

/** The index for a list's filter, or for its sort order if many rows are sorted; null: none would help, or it exists. */
export function proposeIndex(
  { type, filter, sort, take }: Query,
  storage: Storage,
  sortsMany: boolean,
): Proposal | null {
  const { exact, others } = filter ? comparedAttributes(filter) : NO_ATTRIBUTES
  const [first] = sort
  const isOwn = first !== undefined && first.path.length === 0 && isSorted(first.attribute)
  const ordered = isOwn ? [first.attribute.name] : []
  const behind = take.kind === 'many' && take.after !== undefined && ordered.length > 0 ? ['id'] : []
  const attributes = [...exact, ...(others.length > 0 ? others : [...ordered, ...behind])]
  if (attributes.length === 0 || (!sortsMany && exact.length + others.length === 0)) return null
  const distinct = [...new Set(attributes)]
  const index = declaredIndex(type, distinct, storage)
  return has(storage, type, index) ? null : { type, attributes: distinct, index }
}

const NO_ATTRIBUTES = { exact: [], others: [] }

const isSorted = (attribute: ScalarAttribute): boolean =>
  fitsIndex(attribute) && !['id', 'documentId'].includes(attribute.type)

function has(storage: Storage, type: ContentType, index: Index): boolean {
  const { name } = storage.table(type)
  const indexes = storage.tables.find(table => table.name === name)?.indexes ?? []
  return indexes.some(each => isIndexPrefix(each, index))
}

const begins = (other: readonly string[], names: readonly string[]): boolean =>
  other.length > names.length && names.every((name, at) => other[at] === name)

/** The lines of project.yaml that declare the new indexes together with the existing ones. */
export function printProposals(type: ContentType, proposals: readonly Proposal[]): string {
  const own = proposals.filter(proposal => proposal.type === type).map(({ attributes }) => attributes)
  const all = [...type.indexes, ...own]
  const longest = all.filter(names => !all.some(other => begins(other, names)))
  const lists = longest.map(names => `[${names.join(', ')}]`)
  return `contentTypes:\n  ${type.key}:\n    indexes: [${[...new Set(lists)].join(', ')}]`
}

/** PostgreSQL's cost estimates. */
interface IndexTrial {
  readonly before: number
  readonly after: number
}

/** Creates the index in a rolled-back transaction and compares the plans. Writes to the table wait meanwhile. */
export function tryIndex(
  database: Database,
  table: string,
  { index }: Proposal,
  plan: (transaction: Transaction) => Promise<PlanNode>,
): Promise<IndexTrial> {
  return runAndRollBack(database, async transaction => {
    const before = await plan(transaction)
    await transaction.run({ text: printIndex(database.schema, table, index), values: [] })
    await transaction.run({ text: `ANALYZE ${ident(database.schema)}.${ident(table)}`, values: [] })
    const after = await plan(transaction)
    return { before: before['Total Cost'], after: after['Total Cost'] }
  })
}

/** The used part of a node of PostgreSQL's plan. */
export interface PlanNode {
  readonly 'Node Type': string
  readonly 'Relation Name'?: string
  readonly 'Plan Rows': number
  readonly 'Total Cost': number
  readonly 'Actual Rows'?: number
  readonly 'Rows Removed by Filter'?: number
  readonly 'Sort Space Type'?: string
  readonly Plans?: readonly PlanNode[]
}

interface ExplainTerms {
  readonly storage: Storage
  readonly defaultLocale: string
  /** Run the statement and measure it. */
  readonly analyze: boolean
}

/** PostgreSQL's plan of a query. */
export async function explain(
  query: RestrictedQuery,
  transaction: Pick<Transaction, 'run'>,
  { storage, defaultLocale, analyze }: ExplainTerms,
): Promise<PlanNode> {
  await transaction.run({ text: ALONE, values: [] })
  const { text, values } = printAnswerStatement(planQuery(query, { storage, defaultLocale, shape: 'flat' }))
  const options = analyze ? 'FORMAT JSON, ANALYZE, TIMING OFF' : 'FORMAT JSON'
  const { rows } = await transaction.run({ text: `EXPLAIN (${options}) ${text}`, values, name: 'explain' })
  const plans: readonly { readonly Plan: PlanNode }[] = JSON.parse(String(rows[0]?.[0]))
  const [plan] = plans
  if (!plan) throw new TypeError('PostgreSQL explained nothing')
  return plan.Plan
}

/** Row counts are totals over all parallel workers. */
const ALONE = `SELECT set_config('max_parallel_workers_per_gather', '0', true)`

/** The node and all its descendants. */
export const planNodes = (node: PlanNode): readonly PlanNode[] => [
  node,
  ...(node.Plans ?? []).flatMap(planNodes),
]
