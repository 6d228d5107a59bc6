import { trusted } from '../access/brand.ts'
import { comparedAttributes, comparisonsIn } from '../access/compile/expected-lists.ts'
import type { Database, Transaction } from '../database/database.ts'
import { toDatabaseFault } from '../database/database-fault.ts'
import { runAndRollBack } from '../migrate/plan-migration.ts'
import { fitsIndex } from '../model/columns.ts'
import { type ContentType, isLink, type Model, type ScalarAttribute } from '../model/model.ts'
import type { Index, Storage } from '../model/storage.ts'
import { declaredIndex, isIndexPrefix } from '../model/type-indexes.ts'
import { planQuery } from '../plan/plan-query.ts'
import type { Filter, Query, RestrictedQuery } from '../query/query.ts'
import { printIndex } from '../sql/ddl.ts'
import { quoteIdentifier as ident } from '../sql/identifier.ts'
import { printAnswerStatement } from '../sql/print.ts'
import { type Advice, counted } from './advice.ts'
import { longRelations, withoutIndex } from './other-remedies.ts'
import { openSamples, parseWork } from './parse-work.ts'
import { depthOf, type SlowRead } from './slow-reads.ts'

export interface ReadCheckContext {
  readonly database: Database
  readonly model: Model
  readonly storage: Storage
  /** Run reads with EXPLAIN ANALYZE instead of only planning them. */
  readonly analyze: boolean
  /** Try indexes on small tables in a rolled-back transaction. */
  readonly tries: boolean
  /** Estimated. */
  readonly rowsIn: (table: string) => number
}

/** Explains why reads were slow and what would help. Leaves out reads that are fast by now. */
export async function lookAtReads(
  reads: readonly SlowRead[],
  options: ReadCheckContext,
): Promise<readonly Advice[]> {
  const found: Found[] = []
  for (const read of reads) found.push(...(await lookAt(read, options)))
  const proposals = found.flatMap(({ proposal }) => proposal ?? [])
  return found
    .filter(isFirst)
    .map(({ advice, proposal }) =>
      proposal ? { ...advice, paste: printProposals(proposal.type, proposals) } : advice,
    )
}

interface Found {
  readonly advice: Advice
  readonly proposal: Proposal | null
}

/** Several reads may need the same index. */
const isFirst = ({ proposal }: Found, at: number, all: readonly Found[]): boolean =>
  proposal === null || all.findIndex(other => other.proposal?.index.name === proposal.index.name) === at

async function lookAt(read: SlowRead, options: ReadCheckContext): Promise<readonly Found[]> {
  const { database, storage, model } = options
  const long = longRelations(read, times(read), model).map(advice => ({ advice, proposal: null }))
  if (read.work.action === 'findOne') return long
  const query = await database.transaction(transaction => again(read, transaction, options), {
    readonly: true,
  })
  if (!query) return []
  const { defaultLocale } = model
  const plan = (transaction: Transaction, other = query, analyze = false) =>
    explain(trusted(other), transaction, { storage, defaultLocale, analyze })
  const run = (transaction: Transaction, analyze: boolean) => plan(transaction, query, analyze)
  const costly = findCostly(await planOf(run, options), options.rowsIn)
  const remedy = costly.length === 0 ? null : await remedyFor({ query, costly, plan }, options)
  const found = `${times(read)}: ${printWork(read)}. For it PostgreSQL ${costly.map(({ words }) => words).join(', ')}`
  const slow = { severity: 'advice', code: 'slow-read', about: query.type.key, found } as const
  return [
    ...(remedy ? [{ advice: { ...slow, remedy: remedy.words }, proposal: remedy.proposal }] : []),
    ...deepPage(read, query).map(advice => ({ advice, proposal: null })),
    ...long,
  ]
}

/** Falls back to planning only if running takes too long. */
async function planOf(
  plan: (transaction: Transaction, analyze: boolean) => Promise<PlanNode>,
  { database, analyze }: ReadCheckContext,
): Promise<PlanNode> {
  const run = (analyzes: boolean) =>
    database.transaction(transaction => plan(transaction, analyzes), { readonly: true })
  try {
    return await run(analyze)
  } catch (error) {
    if (toDatabaseFault(error)?.kind !== 'timeout') throw error
    return run(false)
  }
}

/** The logged query, with sample values of the table, because the log contains no values. */
async function again(
  read: SlowRead,
  transaction: Transaction,
  { model, storage }: ReadCheckContext,
): Promise<Query | null> {
  const samples = openSamples(storage)
  if (!parseWork(read, model, samples.sample)) return null
  await samples.load(transaction)
  return parseWork(read, model, samples.sample)
}

const times = ({ times: count, slowest }: SlowRead): string =>
  `${count === 1 ? 'a list' : `${counted(count)} lists`} took up to ${counted(slowest)} ms`

function printWork({ work }: SlowRead): string {
  const { filters, sort, search } = work
  const parts = [
    ...(filters === undefined ? [] : [`filters ${JSON.stringify(filters)}`]),
    ...(search === undefined ? [] : ['_q']),
    ...(Array.isArray(sort) ? [`sort ${sort.join(', ')}`] : []),
  ]
  return parts.length === 0 ? 'all documents' : parts.join(', ')
}

interface Remedy {
  readonly words: string
  readonly proposal: Proposal | null
}

/** A slow read with its current plan. */
interface Planned {
  readonly query: Query
  readonly costly: readonly Costly[]
  /** `other`: another query in its place. */
  readonly plan: (transaction: Transaction, other?: Query) => Promise<PlanNode>
}

async function remedyFor(
  { query, costly, plan }: Planned,
  options: ReadCheckContext,
): Promise<Remedy | null> {
  const sortsMany = costly.some(({ kind }) => kind === 'sort')
  const proposal = proposeIndex(query, options.storage, sortsMany)
  const effect = proposal && (await effectOf(proposal, options, plan))
  if (effect) return { words: `declare an index${effect}`, proposal }
  const words = (await countsMost(query, plan, options)) ? COUNTING : withoutIndex(query)
  return words === null ? null : { words, proposal: null }
}

/** Cost of a count that is worth leaving out: that of some 50,000 rows. */
const WORTHWHILE_COUNT = 1_000

/** True if the total takes more than the page of the list. Parts of texts take as long in either. */
async function countsMost(
  query: Query,
  plan: Planned['plan'],
  { database }: ReadCheckContext,
): Promise<boolean> {
  const { take } = query
  if (take.kind !== 'many' || take.total !== true) return false
  const uncounted = { ...query, take: { ...take, total: false } }
  const [whole, page] = await database.transaction(
    async transaction => [await plan(transaction), await plan(transaction, uncounted)] as const,
    { readonly: true },
  )
  const saved = whole['Total Cost'] - page['Total Cost']
  return saved > WORTHWHILE_COUNT && saved > page['Total Cost']
}

/** Larger tables are not locked to try an index. */
const SMALL = 200_000

/** null: the index would not help. */
async function effectOf(
  proposal: Proposal,
  { database, storage, tries, rowsIn }: ReadCheckContext,
  plan: (transaction: Transaction) => Promise<PlanNode>,
): Promise<string | null> {
  const { name } = storage.table(proposal.type)
  if (!tries) return ' (not tried yet: `--try` does, and takes it back)'
  if (rowsIn(name) > SMALL) return ` (not tried: \`${name}\` has more than ${counted(SMALL)} rows)`
  const { before, after } = await tryIndex(database, name, proposal, plan)
  if (after > before * 0.9) return null
  return `: PostgreSQL expects ${counted(Math.max(2, before / after))} times less work with it`
}

const COUNTING =
  'counting takes longest: ask with `pagination[withCount]=estimate`, which counts 10,000 documents at most, or with `pagination[withCount]=false` where no total is shown'

/** From this offset on, skipping rows costs more than returning them. */
const DEEP = 1_000

function deepPage({ work }: SlowRead, { type }: Query): readonly Advice[] {
  const start = depthOf(work)
  if (start < DEEP) return []
  const found = `a page began behind ${counted(start)} documents, all of which PostgreSQL goes through`
  const remedy = 'page by cursor: `pagination[after]` (docs/rest.md)'
  return [{ severity: 'advice', code: 'deep-page', about: type.key, found, remedy }]
}

/** Fewer rows are not worth reporting. */
const WORTH = 5_000

/** The expensive part of a plan. */
interface Costly {
  readonly kind: 'scan' | 'vain' | 'sort'
  /** The rest of a sentence that begins with `PostgreSQL`. */
  readonly words: string
}

/** In execution order. `rowsIn`: the estimated number of rows of a table. */
function findCostly(plan: PlanNode, rowsIn: (table: string) => number): readonly Costly[] {
  const found = planNodes(plan)
    .toReversed()
    .flatMap(node => [...scanOf(node, rowsIn), ...vainOf(node), ...sortOf(node)])
  return [...new Map(found.map(one => [one.words, one])).values()]
}

type Find = readonly Costly[]

function scanOf(
  { 'Node Type': kind, 'Relation Name': table }: PlanNode,
  rowsIn: (table: string) => number,
): Find {
  if (kind !== 'Seq Scan' || table === undefined || rowsIn(table) < WORTH) return []
  return [{ kind: 'scan', words: `reads all ${counted(rowsIn(table))} rows of \`${table}\`` }]
}

/** Known only if the statement was run. */
function vainOf({
  'Node Type': kind,
  'Relation Name': table,
  'Rows Removed by Filter': removed = 0,
}: PlanNode): Find {
  if (kind === 'Seq Scan' || removed < WORTH) return []
  const where = table === undefined ? '' : ` of \`${table}\``
  return [{ kind: 'vain', words: `looks at ${counted(removed)} rows${where} in vain` }]
}

function sortOf({ 'Node Type': kind, Plans: plans = [], 'Sort Space Type': space }: PlanNode): Find {
  const rows = Math.max(0, ...plans.map(child => child['Actual Rows'] ?? child['Plan Rows']))
  if (kind !== 'Sort' || rows < WORTH) return []
  return [{ kind: 'sort', words: `sorts ${counted(rows)} rows${space === 'Disk' ? ' on disk' : ''}` }]
}

/** An index that a type could declare. */
interface Proposal {
  readonly type: ContentType
  /** In the form of the key `indexes`. */
  readonly attributes: readonly string[]
  readonly index: Index
}

/**
 * The index for a list's filter, or for its sort order if many rows are sorted; otherwise for what it compares of related
 * documents. null: none would help, or it exists.
 */
function proposeIndex(query: Query, storage: Storage, sortsMany: boolean): Proposal | null {
  const own = proposeOwnIndex(query, storage, sortsMany)
  return own ?? (query.filter ? proposeRelatedIndex(query.filter, storage) : null)
}

/** The index of a related content-type, of attributes that the filter compares there. */
function proposeRelatedIndex(filter: Filter, storage: Storage): Proposal | null {
  for (const part of comparisonsIn(filter)) {
    if (part.kind !== 'related') continue
    const deeper = proposeRelatedIndex(part.filter, storage)
    if (deeper) return deeper
    if (!isLink(part.attribute)) continue
    const { exact, others } = comparedAttributes(part.filter)
    const proposal = proposalOf(part.attribute.target, [...exact, ...others], storage)
    if (proposal) return proposal
  }
  return null
}

function proposalOf(type: ContentType, attributes: readonly string[], storage: Storage): Proposal | null {
  if (attributes.length === 0) return null
  const distinct = [...new Set(attributes)]
  const index = declaredIndex(type, distinct, storage)
  return has(storage, type, index) ? null : { type, attributes: distinct, index }
}

function proposeOwnIndex(
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
  return !sortsMany && exact.length + others.length === 0 ? null : proposalOf(type, attributes, storage)
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
function printProposals(type: ContentType, proposals: readonly Proposal[]): string {
  const own = proposals.filter(proposal => proposal.type === type).map(({ attributes }) => attributes)
  const all = [...type.indexes, ...own]
  const longest = all.filter(names => !all.some(other => begins(other, names)))
  const texts =
    type.textIndexes.length === 0 ? [] : [`{ attributes: [${type.textIndexes.join(', ')}], kind: text }`]
  const lists = [...longest.map(names => `[${names.join(', ')}]`), ...texts]
  return `contentTypes:\n  ${type.key}:\n    indexes: [${[...new Set(lists)].join(', ')}]`
}

/** PostgreSQL's cost estimates. */
interface IndexTrial {
  readonly before: number
  readonly after: number
}

/** Creates the index in a rolled-back transaction and compares the plans. Writes to the table wait meanwhile. */
function tryIndex(
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
interface PlanNode {
  readonly 'Node Type': string
  readonly 'Relation Name'?: string
  readonly 'Plan Rows': number
  readonly 'Total Cost': number
  readonly 'Actual Rows'?: number
  readonly 'Rows Removed by Filter'?: number
  readonly 'Sort Space Type'?: string
  readonly Plans?: readonly PlanNode[]
}

interface ExplainOptions {
  readonly storage: Storage
  readonly defaultLocale: string
  /** Run the statement and measure it. */
  readonly analyze: boolean
}

/** PostgreSQL's plan of a query. */
async function explain(
  query: RestrictedQuery,
  transaction: Pick<Transaction, 'run'>,
  { storage, defaultLocale, analyze }: ExplainOptions,
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
const planNodes = (node: PlanNode): readonly PlanNode[] => [node, ...(node.Plans ?? []).flatMap(planNodes)]
