import type { LinkShape } from '../../model/storage.ts'
import { quoteConstant } from '../../sql/ddl.ts'
import type { Pair, PairShift } from '../schema/pair-tables.ts'
import {
  changesVersions,
  gainsDrafts,
  gainsLocales,
  type Holding,
  isComponent,
  keyOf,
  losesDrafts,
  losesLocales,
  type Shift,
} from './reshape.ts'

/** A pair with what a shift does to its rows, where it does. */
export function shiftPair(pair: Pair, shift: Shift): Pair {
  const holding = shift.holdings.find(one => one.pair === pair)
  const found = holding ? holdingShift(holding, shift) : linkTableShift(pair, shift)
  return found === null ? pair : { ...pair, shift: found }
}

const VERSION_COLUMNS = ['document_key', 'status', 'locale', 'shared_updated_at'] as const

function holdingShift(holding: Holding, shift: Shift): PairShift | null {
  const sources = [
    ...shift.links.map(({ source }) => source),
    ...shift.misled.map(({ owner, former }) => ({ holding: owner, link: former })),
  ]
  const links = sources.flatMap(one => (one.holding === holding ? columnsOf(one.link) : []))
  if (!changesVersions(holding)) {
    const fillings = localesOfParts(holding, shift)
    const isSame = links.length === 0 && fillings.size === 0
    return isSame ? null : { fillings, rows: 'true', moved: new Set(links) }
  }
  const { before, after } = holding
  const rows = [
    ...(losesDrafts(holding) ? [`status = 'published'`] : []),
    ...(losesLocales(holding) ? [`locale = ${quoteConstant(before.locale ?? '')}`] : []),
  ]
  const fillings: [string, string][] = [
    ...(keyOf(before) === keyOf(after) ? [] : [['document_key', 'id'] as [string, string]]),
    ...(gainsDrafts(holding) ? [['status', `'published'`] as [string, string]] : []),
    ...(gainsLocales(holding) ? [['locale', quoteConstant(after.locale ?? '')] as [string, string]] : []),
  ]
  return {
    fillings: new Map(fillings),
    rows: rows.length === 0 ? 'true' : rows.map(row => `(${row})`).join(' AND '),
    moved: new Set([...VERSION_COLUMNS, ...links]),
  }
}

/** A component's locale is its document's: only where that keeps its locales can it be asked before. */
function localesOfParts({ after }: Holding, { components, parts }: Shift): ReadonlyMap<string, string> {
  if (!components.has(after.uid)) return new Map()
  const keeping = parts.filter(
    ({ owner, before }) => before !== null && !changesVersions(owner) && !isComponent(owner),
  )
  const owners = keeping.flatMap(({ before }) => (before === null ? [] : [quoteConstant(before.owner)]))
  const locale = owners.length === 0 ? 'NULL' : `CASE WHEN owner IN (${owners.join(', ')}) THEN locale END`
  return new Map([['locale', `(${locale})::varchar(255)`]])
}

function columnsOf({ link }: LinkShape): readonly string[] {
  if (link.kind === 'table') return []
  const columns = [link.key, link.draftKey, link.locale, link.draftLocale, link.inversePosition]
  return columns.filter(column => column !== null)
}

const isIn = ({ link }: LinkShape, table: { readonly name: string }): boolean =>
  link.kind === 'table' && link.table === table.name

/** Emptied and written anew: nothing can be asked of its rows before. */
function linkTableShift({ desired, actual }: Pair, { links, misled }: Shift): PairShift | null {
  const isOwn =
    links.some(({ link, source }) => isIn(link, desired) || isIn(source.link, actual)) ||
    misled.some(({ link }) => isIn(link, desired))
  if (!isOwn) return null
  return {
    fillings: new Map(desired.columns.map(column => [column.name, `NULL::${column.type}`])),
    rows: 'false',
    moved: new Set(actual.columns.map(column => column.name)),
  }
}
