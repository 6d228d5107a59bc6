import type { ColumnLink, LinkShape, TableLink } from '../../model/storage.ts'
import { qualified, quoteConstant } from '../../sql/ddl.ts'
import { quoteIdentifier as ident } from '../../sql/identifier.ts'
import { printNewLocale, type RowConversion, type TablePair } from '../schema/pair-tables.ts'
import {
  type Naming,
  PARTS,
  printComponentLinks,
  printKeptVersion,
  printKeptVersions,
  printLeadingLocales,
} from './component-links.ts'
import {
  type ComponentsMove,
  changesVersions,
  gainsDrafts,
  gainsLocales,
  isComponent,
  type LinkMove,
  losesDocuments,
  losesDrafts,
  losesLocales,
  type Reshape,
  type TableState,
  versionKeyOf,
} from './reshape.ts'

/**
 * SQL that finds out what becomes of each component: a row for every (component, id) there is, found from the
 * documents down. `kept`: whether it stays; `copy`: its id, another one where a further locale gets its own;
 * `parent`: the id that its owner is going to have; `locale`: its own; whether its document has drafts and locales.
 */
export function printFindComponents(reshape: Reshape, naming: Naming): string {
  const components = reshape.holdings.filter(isComponent)
  const stored = components.map(one => storedParts(one, naming)).join(' UNION ALL ')
  const roots = reshape.parts.filter(({ owner }) => !isComponent(owner)).map(move => rootParts(move, naming))
  // Components may be in no content-type, or in new ones only.
  const all = roots.length === 0 ? [NO_PARTS] : roots
  const nested = `SELECT c.component, c.id, ${copyOf('p.copy = p.id', 'c.sequence')}, p.copy, p.locale, p.kept,
    p.drafts_before, p.drafts_after, p.locales_after
    FROM parts AS p JOIN stored AS c ON c.owner_key = p.id AND regexp_replace(c.owner, '\\.[^.]*$', '') = p.component`
  return `CREATE TEMP TABLE ${PARTS.replace('pg_temp.', '')} ON COMMIT DROP AS WITH RECURSIVE stored AS MATERIALIZED (${stored}),
  parts (component, id, copy, parent, locale, kept, drafts_before, drafts_after, locales_after) AS (
    (${all.join(' UNION ALL ')}) UNION ALL ${nested}
  ) SELECT * FROM parts`
}

const NO_PARTS =
  'SELECT component, id, id, owner_key, locale::text, true, false, false, false FROM stored WHERE false'

const copyOf = (same: string, sequence: string): string =>
  `CASE WHEN ${same} THEN c.id ELSE nextval(${sequence})::integer END`

function storedParts(component: TableState, naming: Naming): string {
  const table = naming.table(component)
  const sequence = `pg_get_serial_sequence(${quoteConstant(table)}, 'id')::regclass`
  return `SELECT DISTINCT ${quoteConstant(component.after.uid)} AS component, id, owner, owner_key, locale, ${sequence} AS sequence FROM ${table}`
}

/** The components that a content-type's own attribute holds. */
function rootParts({ owner, before, after }: ComponentsMove, naming: Naming): string {
  const type = owner.after
  const had = owner.before.locale !== null && (before ?? after).localized
  const has = type.locale !== null && after.localized
  const drafts = [owner.before.drafts, type.drafts, type.locale !== null].join(', ')
  const select = (copy: string, locale: string, kept: string, from = '') =>
    `SELECT c.component, c.id, ${copy}, c.owner_key, ${locale}::text, ${kept}, ${drafts} FROM stored AS c ${from} WHERE c.owner = ${quoteConstant(after.owner)}`
  if (had && has) return select('c.id', 'c.locale', 'true')
  if (!had && has) {
    const own = quoteConstant(type.locale)
    return owner.before.locale === null ? select('c.id', own, 'true') : sharedOut(owner, naming, select)
  }
  if (owner.before.locale === null) return select('c.id', 'NULL', 'true')
  return select('c.id', 'NULL', staysOf(owner, had, naming))
}

type Select = (copy: string, locale: string, kept: string, from?: string) => string

/** Every locale gets its own: the default one, else the first, goes on with the ids that were shared. */
function sharedOut(owner: TableState, naming: Naming, select: Select): string {
  const leading = `v.locale = first.locale`
  const table = naming.table(owner)
  const from = `JOIN (SELECT DISTINCT document_key, locale FROM ${table}) AS v ON v.document_key = c.owner_key
    JOIN ${printLeadingLocales(table, owner)} AS first ON first.document_key = c.owner_key`
  return select(copyOf(leading, 'c.sequence'), 'v.locale', 'true', from)
}

/** Components that become shared by all locales: those of one locale are kept. */
function staysOf(owner: TableState, had: boolean, naming: Naming): string {
  const table = naming.table(owner)
  if (owner.after.locale !== null) {
    const leading = `(c.owner_key, c.locale) IN ${printLeadingLocales(table, owner)}`
    return had ? leading : 'true'
  }
  const kept = `${printKeptVersions(table, owner)} AS d WHERE d.document_key = c.owner_key`
  return `EXISTS (SELECT FROM ${kept}${had ? ` AND c.locale = ${naming.locale('d.locale')}` : ''})`
}

/** SQL that brings the rows of components to what was found out. */
export function printReshapeComponents(reshape: Reshape, naming: Naming): readonly string[] {
  return reshape.holdings
    .filter(one => isComponent(one) && reshape.components.has(one.after.uid))
    .flatMap(one => shiftRows(one, naming))
}

function shiftRows(component: TableState, naming: Naming): readonly string[] {
  const table = naming.table(component)
  const own = `p.component = ${quoteConstant(component.after.uid)}`
  const values = component.pair.desired.columns
    .map(column => column.name)
    .filter(column => !['id', 'status', 'owner_key', 'locale'].includes(column))
    .map(ident)
  const into = `INSERT INTO ${table} (id, status, owner_key, locale, ${values.join(', ')}) SELECT`
  const rest = values.map(value => `c.${value}`).join(', ')
  return [
    `DELETE FROM ${table} AS c USING ${PARTS} AS p WHERE ${own} AND p.id = c.id AND NOT p.kept`,
    `UPDATE ${table} AS c SET locale = p.locale FROM ${PARTS} AS p WHERE ${own} AND p.copy = c.id AND c.locale IS DISTINCT FROM p.locale`,
    `${into} p.copy, c.status, p.parent, p.locale, ${rest} FROM ${table} AS c JOIN ${PARTS} AS p ON ${own} AND p.id = c.id AND p.copy <> p.id AND p.kept`,
    `${into} c.id, 'draft', c.owner_key, c.locale, ${rest} FROM ${table} AS c JOIN ${PARTS} AS p ON ${own} AND p.copy = c.id AND NOT p.drafts_before AND p.drafts_after AND c.status = 'published'`,
    `DELETE FROM ${table} AS c USING ${PARTS} AS p WHERE ${own} AND p.copy = c.id AND p.drafts_before AND NOT p.drafts_after AND c.status = 'draft'`,
  ]
}

/** A pair with what a shift does to its rows, where it does. */
export function reshapePair(pair: TablePair, reshape: Reshape): TablePair {
  const holding = reshape.holdings.find(one => one.pair === pair)
  const found = holding ? holdingConversion(holding, reshape) : linkTableConversion(pair, reshape)
  return found === null ? pair : { ...pair, reshape: found }
}

const VERSION_COLUMNS = ['document_key', 'status', 'locale', 'shared_updated_at'] as const

function holdingConversion(holding: TableState, reshape: Reshape): RowConversion | null {
  const sources = [
    ...reshape.links.map(({ source }) => source),
    ...reshape.retargeted.map(({ owner, former }) => ({ holding: owner, link: former })),
  ]
  const links = sources.flatMap(one => (one.holding === holding ? columnsOf(one.link) : []))
  if (!changesVersions(holding)) {
    const fillings = localesOfParts(holding, reshape)
    const isSame = links.length === 0 && fillings.size === 0
    return isSame ? null : { fillings, rows: 'true', moved: new Set(links) }
  }
  const { pair, before, after } = holding
  const actual = qualified(pair.schema, pair.actual.name)
  const rows = [
    ...(losesDrafts(holding) ? [`status = 'published'`] : []),
    ...(losesLocales(holding) ? [printKeptVersion(actual, actual, holding)] : []),
  ]
  const fillings: [string, string][] = [
    ...(versionKeyOf(before) === versionKeyOf(after) ? [] : [['document_key', 'id'] as [string, string]]),
    ...(gainsDrafts(holding) ? [['status', `'published'`] as [string, string]] : []),
    ...(gainsLocales(holding) ? [['locale', quoteConstant(after.locale ?? '')] as [string, string]] : []),
  ]
  return {
    fillings: new Map(fillings),
    rows: rows.length === 0 ? 'true' : rows.map(row => `(${row})`).join(' AND '),
    moved: new Set([...VERSION_COLUMNS, ...links]),
  }
}

/**
 * A component's locale is its document's. It is known before the migration if that keeps its locales or gets the default one, and
 * the component is not nested; else it is NULL.
 */
function localesOfParts(
  { pair, after }: TableState,
  { components, parts }: Reshape,
): ReadonlyMap<string, string> {
  if (!components.has(after.uid)) return new Map()
  const own = printNewLocale(pair)
  const cases = parts.flatMap(part => {
    const locale = knownLocale(part, own)
    return part.before === null || locale === null
      ? []
      : [`WHEN ${quoteConstant(part.before.owner)} THEN ${locale}`]
  })
  const locale = cases.length === 0 ? 'NULL' : `CASE owner ${cases.join(' ')} END`
  return new Map([['locale', `(${locale})::varchar(255)`]])
}

function knownLocale({ owner, after }: ComponentsMove, own: string): string | null {
  if (isComponent(owner)) return null
  if (gainsLocales(owner)) return after.localized ? quoteConstant(owner.after.locale ?? '') : null
  return changesVersions(owner) ? null : own
}

function columnsOf({ link }: LinkShape): readonly string[] {
  if (link.kind === 'table') return []
  const columns = [link.key, link.draftKey, link.locale, link.draftLocale, link.inversePosition]
  return columns.filter(column => column !== null)
}

const isIn = ({ link }: LinkShape, table: { readonly name: string }): boolean =>
  link.kind === 'table' && link.table === table.name

/** Emptied and rewritten: its rows cannot be queried before. */
function linkTableConversion(
  { desired, actual }: TablePair,
  { links, retargeted }: Reshape,
): RowConversion | null {
  const isOwn =
    links.some(({ link, source }) => isIn(link, desired) || isIn(source.link, actual)) ||
    retargeted.some(({ link }) => isIn(link, desired))
  if (!isOwn) return null
  return {
    fillings: new Map(desired.columns.map(column => [column.name, `NULL::${column.type}`])),
    rows: 'false',
    moved: new Set(actual.columns.map(column => column.name)),
  }
}

/** The temporary table that keeps a move's links while rows change. */
const aside = (turn: number): string => `pg_temp.plinth_shift_links_${turn}`

/** Positions appended to a list are multiples of this (reference/documents.md#11-order). */
const GAP = 1024

interface LinkReshape {
  readonly schema: string
  readonly naming: Naming
  /** The index of the move among all moves. */
  readonly turn: number
}

/** SQL that keeps a move's links, and empties the table that they stay in. */
export function printKeepLinks({ owner, source, link }: LinkMove, options: LinkReshape): readonly string[] {
  const move = { owner, source, link }
  const keep = `CREATE TEMP TABLE ${aside(options.turn).replace('pg_temp.', '')} ON COMMIT DROP AS ${printComponentLinks(
    { ...move, target: owner },
    { naming: options.naming, withParts: true },
  )}`
  if (source.link.link.kind === 'column') return [keep]
  return [keep, `DELETE FROM ${options.naming.linkTable(source.link.link.table)}`]
}

/** SQL that stores the links that were kept, for the rows that there are now. */
export function printWriteLinks(move: LinkMove, options: LinkReshape): readonly string[] {
  return move.link.link.kind === 'table'
    ? writeTable(move, move.link.link, options)
    : writeColumns(move, move.link.link, options)
}

/** The owner's rows as SQL, and what is known of the documents that they belong to. */
interface Owner {
  readonly from: string
  readonly status: string
  readonly locale: string
  readonly hasDrafts: string
  readonly hasLocales: string
}

function ownerOf(owner: TableState, { turn, naming }: LinkReshape): Owner {
  const { after } = owner
  const table = naming.table(owner)
  const links = `${aside(turn)} AS l`
  if (isComponent(owner)) {
    const parts = `JOIN ${PARTS} AS r ON r.component = ${quoteConstant(after.uid)} AND r.id = l.owner_key AND r.kept`
    return {
      from: `${links} ${parts} JOIN ${table} AS o ON o.id = r.copy`,
      status: `CASE WHEN r.drafts_after THEN o.status ELSE 'published' END`,
      locale: 'l.owner_locale',
      hasDrafts: 'r.drafts_after',
      hasLocales: 'r.locales_after',
    }
  }
  // The column is there until the last step, with the former codes.
  const former = owner.before.locale === null ? 'NULL' : naming.locale('o.locale')
  return {
    from: `${links} JOIN ${table} AS o ON o.${versionKeyOf(after)} = l.owner_key`,
    status: after.drafts ? 'o.status' : `'published'`,
    locale: after.locale === null ? former : 'o.locale',
    hasDrafts: String(after.drafts),
    hasLocales: String(after.locale !== null),
  }
}

/** FROM and WHERE of the links as they are to be: `v.status` and `v.locale` are what a link has to say of its target. */
function printWanted({ owner, target }: LinkMove, options: LinkReshape): string {
  const rows = ownerOf(owner, options)
  const { drafts, locale } = target.after
  const statuses = drafts
    ? `CASE WHEN ${rows.hasDrafts} THEN ARRAY[NULL] ELSE ARRAY['published', 'draft'] END::text[]`
    : 'ARRAY[NULL]::text[]'
  const locales =
    locale === null
      ? 'NULL'
      : `CASE WHEN NOT ${rows.hasLocales} THEN coalesce(l.target_locale, l.owner_locale, ${quoteConstant(locale)}) END`
  const said = drafts ? `coalesce(v.status, ${rows.status})` : rows.status
  const exists = `EXISTS (SELECT FROM ${options.naming.table(target)} AS t WHERE t.${versionKeyOf(target.after)} = l.target_key)`
  return [
    `FROM ${rows.from}`,
    `CROSS JOIN LATERAL unnest(${statuses}) AS s (status)`,
    `CROSS JOIN LATERAL (SELECT s.status, (${locales})::text AS locale) AS v`,
    `WHERE coalesce(l.owner_status = ${rows.status}, true)`,
    `AND coalesce(l.owner_locale = ${rows.locale}, true)`,
    `AND coalesce(l.target_status = ${said}, true)`,
    ...(losesDocuments(target) ? [`AND ${exists}`] : []),
  ].join(' ')
}

const PLACE = `coalesce(l.position, l.turn * ${GAP})`
const INVERSE_PLACE = `coalesce(l.inverse_position, l.turn * ${GAP})`

function writeTable(move: LinkMove, link: TableLink, options: LinkReshape): readonly string[] {
  const columns = [
    ...link.owner.map(([column, own]) => [column, `o.${ident(own)}`] as const),
    ['target_key', 'l.target_key'] as const,
    ...(link.targetStatus === null ? [] : [['target_status', 'v.status'] as const]),
    ...(link.targetLocale === null ? [] : [['target_locale', 'v.locale'] as const]),
  ]
  const places = [
    ['position', PLACE] as const,
    ...(link.inversePosition === null ? [] : [['inverse_position', INVERSE_PLACE] as const]),
  ]
  const table = qualified(options.schema, link.table)
  const names = [...columns, ...places].map(([column]) => ident(column)).join(', ')
  const once = columns.map(([, value]) => value).join(', ')
  const values = [...columns, ...places].map(([column, value]) => `${value} AS ${ident(column)}`).join(', ')
  const wanted = `SELECT DISTINCT ON (${once}) ${values} ${printWanted(move, options)} ORDER BY ${once}, ${PLACE}`
  return [
    `INSERT INTO ${table} (${names}) SELECT ${names} FROM (${wanted}) AS wanted ORDER BY position, target_key`,
    raiseSequence(table, ['id', ...places.map(([column]) => `${column} / ${GAP}`)]),
  ]
}

/** Later appended rows must come after all existing ones. */
const raiseSequence = (table: string, values: readonly string[]): string => {
  const sequence = `pg_get_serial_sequence(${quoteConstant(table)}, 'id')`
  const last = `greatest(1, ${values.map(value => `ceil(max(${value}))`).join(', ')})`
  return `SELECT setval(${sequence}, ${last}::bigint) FROM ${table}`
}

function writeColumns(move: LinkMove, link: ColumnLink, options: LinkReshape): readonly string[] {
  const table = options.naming.table(move.owner)
  const isPart = isComponent(move.owner)
  const row = ['id', ...(isPart ? ['status'] : [])]
  const own = row.map(column => `o.${column}`).join(', ')
  const first =
    `SELECT DISTINCT ON (${own}, v.status) ${own}, coalesce(v.status, 'published') AS slot, l.target_key, v.locale, ` +
    `${INVERSE_PLACE} AS place ${printWanted(move, options)} ORDER BY ${own}, v.status, ${PLACE}, l.target_key`
  const columns = slotsOf(link)
  const values = columns.map(([, value], index) => `${value} AS value_${index}`)
  const each = `SELECT ${row.join(', ')}, ${values.join(', ')} FROM (${first}) AS first GROUP BY ${row.join(', ')}`
  const set = columns.map(([column], index) => `${ident(column)} = each.value_${index}`).join(', ')
  const same = row.map(column => `held.${column} = each.${column}`).join(' AND ')
  const none = columns.map(([column]) => `${ident(column)} = NULL`).join(', ')
  const any = columns.map(([column]) => `${ident(column)} IS NOT NULL`).join(' OR ')
  return [
    `UPDATE ${table} SET ${none} WHERE ${any}`,
    `UPDATE ${table} AS held SET ${set} FROM (${each}) AS each WHERE ${same}`,
    ...(link.inversePosition === null
      ? []
      : [raiseSequence(table, ['id', `${ident(link.inversePosition)} / ${GAP}`])]),
  ]
}

const slotsOf = (link: ColumnLink): readonly (readonly [string, string])[] => {
  const of = (value: string, slot: string) => `max(${value}) FILTER (WHERE slot = ${quoteConstant(slot)})`
  const all: readonly (readonly [string | null, string])[] = [
    [link.key, of('target_key', 'published')],
    [link.draftKey, of('target_key', 'draft')],
    [link.locale, of('locale', 'published')],
    [link.draftLocale, of('locale', 'draft')],
    [link.inversePosition, 'max(place)'],
  ]
  return all.flatMap(([column, value]) => (column === null ? [] : [[column, value] as const]))
}
