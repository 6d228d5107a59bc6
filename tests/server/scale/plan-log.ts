/** A node of a plan as `auto_explain` logs it in JSON, with what it came to when it ran. */
interface Node {
  readonly 'Node Type': string
  readonly 'Relation Name'?: string
  readonly 'Index Name'?: string
  readonly 'Actual Rows'?: number
  readonly 'Actual Loops'?: number
  readonly 'Rows Removed by Filter'?: number
  readonly 'Rows Removed by Index Recheck'?: number
  readonly 'Rows Removed by Join Filter'?: number
  readonly 'Shared Hit Blocks'?: number
  readonly 'Shared Read Blocks'?: number
  readonly Plans?: readonly Node[]
}

interface Entry {
  readonly 'Query Text': string
  readonly Plan: Node
}

/** One way in which a statement looked through a table. */
export interface Scan {
  readonly table: string
  /** `Seq Scan`, `Index Scan using articles_pkey`. */
  readonly how: string
  /** Rows that were looked at, of all loops together. */
  readonly rows: number
  /** Pages that were looked at, of all loops together. */
  readonly blocks: number
}

export interface Ran {
  readonly text: string
  readonly blocks: number
  readonly scans: readonly Scan[]
}

/** The statements of a log between marks (`SELECT 'mark: NAME'`), by the name of the mark before them. */
export function ranIn(log: string): ReadonlyMap<string, readonly Ran[]> {
  const ran = new Map<string, Ran[]>()
  let list: Ran[] | undefined
  for (const entry of entriesOf(log)) {
    const mark = /^SELECT 'mark: (.*)'$/.exec(entry['Query Text'])?.[1]
    if (mark === undefined) list?.push(toRan(entry))
    else {
      list = ran.get(mark) ?? []
      ran.set(mark, list)
    }
  }
  return ran
}

/** An entry begins with its duration; the lines of its plan begin with a tab. */
function* entriesOf(log: string): Generator<Entry> {
  const lines = log.split('\n')
  for (let at = 0; at < lines.length; at++) {
    if (!/^LOG: {2}duration: .* plan:$/.test(lines[at] ?? '')) continue
    let json = ''
    while (lines[at + 1]?.startsWith('\t')) json += lines[++at]?.slice(1)
    yield JSON.parse(json) as Entry
  }
}

function toRan(entry: Entry): Ran {
  return { text: entry['Query Text'], blocks: blocksOf(entry.Plan), scans: [...scansOf(entry.Plan)] }
}

function* scansOf(node: Node, table = node['Relation Name']): Generator<Scan> {
  const below = node.Plans ?? []
  const isBitmap = node['Node Type'] === 'Bitmap Heap Scan'
  if (node['Relation Name'] !== undefined && node['Node Type'].endsWith('Scan'))
    yield { table: node['Relation Name'], how: howOf(node), rows: rowsOf(node), blocks: blocksOf(node) }
  else if (node['Node Type'] === 'Bitmap Index Scan')
    yield { table: table ?? '', how: howOf(node), rows: rowsOf(node), blocks: blocksOf(node) }
  for (const each of below)
    yield* scansOf(each, isBitmap ? node['Relation Name'] : (each['Relation Name'] ?? table))
}

const howOf = (node: Node): string =>
  node['Index Name'] === undefined ? node['Node Type'] : `${node['Node Type']} using ${node['Index Name']}`

function rowsOf(node: Node): number {
  const removed = (node['Rows Removed by Filter'] ?? 0) + (node['Rows Removed by Index Recheck'] ?? 0)
  return ((node['Actual Rows'] ?? 0) + removed) * (node['Actual Loops'] ?? 0)
}

const blocksOf = (node: Node): number => (node['Shared Hit Blocks'] ?? 0) + (node['Shared Read Blocks'] ?? 0)
