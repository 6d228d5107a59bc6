import type { Column, ComponentsShape, SchemaShape, ValueShape } from '../model/storage.ts'
import { qualified, quoteConstant } from '../sql/ddl.ts'
import { quoteIdentifier as ident } from '../sql/identifier.ts'
import {
  keptLocales,
  type Naming,
  namesAfter,
  namesBefore,
  printKeptVersion,
  printLeadingLocales,
} from './reshape/component-links.ts'
import {
  largeReshape,
  linkLosses,
  partLosses,
  precondition,
  refuseRetargetedLinks,
  valueLosses,
  versionLosses,
} from './reshape/data-losses.ts'
import {
  printFindComponents,
  printKeepLinks,
  printReshapeComponents,
  printWriteLinks,
  reshapePair,
} from './reshape/related-tables.ts'
import {
  type ComponentsMove,
  findReshape,
  gainsDrafts,
  gainsLocales,
  isComponent,
  type LinkMove,
  losesDrafts,
  losesLocales,
  type Reshape,
  type TableState,
  versionKeyOf,
} from './reshape/reshape.ts'
import type { Catalogue } from './schema/catalogue.ts'
import { endPrevious, type SchemaFinding, type Step, step } from './schema/finding.ts'
import { columnOfLocales, type TablePair } from './schema/pair-tables.ts'
import { countRows } from './schema/row-counts.ts'

/** The conversion of rows whose meaning changes: drafts, locales, links and components that change their kind. */
export interface ReshapePlan {
  /** The paired tables, with the conversion of their rows. */
  readonly pairs: readonly TablePair[]
  readonly findings: readonly SchemaFinding[]
  /** Tables that are no longer declared, without those whose rows are carried over. */
  readonly moved: ReadonlySet<string>
}

export function planReshape(all: readonly TablePair[], { schema, owned: made }: Catalogue): ReshapePlan {
  const reshape = findReshape(all)
  const paired = new Map(all.map(pair => [pair.actual.name, pair.desired.name]))
  const before = [...made.values()].flatMap(({ shape }) => (shape === null ? [] : [shape]))
  const sources = reshape.links.flatMap(({ source: { link } }) =>
    link.link.kind === 'table' ? [link.link.table] : [],
  )
  return {
    pairs: all.map(pair => reshapePair(pair, reshape)),
    findings: [
      ...reshapeRows(reshape, { naming: namesAfter(schema, paired, localesOf(all)), schema, before }),
    ],
    moved: new Set(sources.filter(table => !paired.has(table))),
  }
}

/** Every column of locale codes has the same renames. */
const localesOf = (all: readonly TablePair[]): Pick<Column, 'renamedValues'> =>
  all.map(({ desired }) => columnOfLocales(desired)).find(column => column?.renamedValues) ?? {}

interface ReshapeOptions {
  readonly schema: string
  readonly naming: Naming
  /** The recorded roles of all existing tables. */
  readonly before: readonly SchemaShape[]
}

/** Links are set aside while the rows at their ends change. */
function* reshapeRows(
  reshape: Reshape,
  { schema, naming, before }: ReshapeOptions,
): Generator<SchemaFinding> {
  yield* removeComponents(reshape, { schema, naming, before })
  for (const retargeted of reshape.retargeted) yield* refuseRetargetedLinks(retargeted, naming)
  const moves = reshape.links.map((move, turn) => ({ move, options: { schema, naming, turn } }))
  if (needsComponents(reshape))
    yield step('reshape', 'find out whose each component is', printFindComponents(reshape, naming))
  for (const { move, options } of moves)
    yield step('reshape', `set the links of ${linkWords(move)} aside`, ...printKeepLinks(move, options))
  yield* shareLocalizedValues(reshape)
  const parts = printReshapeComponents(reshape, naming)
  if (parts.length > 0) {
    const done = step('reshape', 'bring components in line with their documents', ...parts)
    yield done
    yield* partLosses(reshape, namesBefore(schema), done)
  }
  yield* reshapeVersions(reshape)
  for (const { move, options } of moves) {
    const done = step('reshape', `store the links of ${linkWords(move)}`, ...printWriteLinks(move, options))
    yield done
    yield* linkLosses(move, namesBefore(schema), done)
    yield largeReshape(tableOfLinks(move, namesBefore(schema)), move.owner.pair, done)
  }
}

const needsComponents = ({ components, links }: Reshape): boolean =>
  components.size > 0 || links.some(({ owner }) => owner.after.holder === 'component')

/** The table that stores the links. */
const tableOfLinks = ({ source: { holding, link } }: LinkMove, naming: Naming): string =>
  link.link.kind === 'table' ? naming.linkTable(link.link.table) : naming.table(holding)

const linkWords = ({ owner, link }: LinkMove): string => `\`${link.name}\` of ${owner.pair.desired.serves}`

function* shareLocalizedValues({ holdings }: Reshape): Generator<SchemaFinding> {
  for (const holding of holdings) {
    const values = newlyShared(holding)
    if (values.length === 0) continue
    const names = values.map(value => `\`${value.name}\``).join(', ')
    const words = `let all locales of ${holding.pair.desired.serves} share ${names}`
    const done = step('reshape', words, printShareValues(holding, values))
    yield done
    yield valueLosses(holding, values, done)
  }
}

function* reshapeVersions({ versions }: Reshape): Generator<SchemaFinding> {
  for (const holding of versions) {
    const done = step('reshape', versionWords(holding), ...printReshapeVersions(holding))
    yield done
    yield* versionLosses(holding, done)
    yield largeReshape(namesBefore(holding.pair.schema).table(holding), holding.pair, done)
  }
}

/** Components that an attribute held and holds no more: it is gone, with its holder perhaps, or takes others now. */
interface RemovedComponent {
  readonly component: TableState
  /** The name of the owner in the component's rows. */
  readonly owner: string
}

interface RemovalOptions {
  readonly schema: string
  readonly naming: Naming
  /** The former shape of all tables, including removed ones. */
  readonly before: readonly SchemaShape[]
}

/** Rows lost with removed components (extra-constraints.ts), and by lists that become single components. */
function* removeComponents(reshape: Reshape, options: RemovalOptions): Generator<SchemaFinding> {
  const { schema, naming, before } = options
  for (const { component, owner } of findRemovedComponents(reshape, before)) {
    const from = namesBefore(schema)
    const held = `SELECT id, status FROM ${from.table(component)} WHERE owner = ${quoteConstant(owner)}`
    const countQuery = countNested(component, { held, reshape, naming: from })
    if (countQuery === null) continue
    const words = `remove what was nested in the ${wordsOf(component)} of \`${owner}\``
    const removal = step('drop', words, ...printRemoveNested(component, reshape, naming))
    const done: Step = { ...removal, onlyIf: countQuery }
    yield done
    const because = `\`${owner}\` holds the ${wordsOf(component)} no more, which`
    yield nestedLoss({ component, countQuery, because }, done)
  }
  for (const move of reshape.parts)
    if (move.before?.many && !move.after.many) yield* keepFirstComponents(move, move.before, reshape, options)
}

const wordsOf = ({ pair }: TableState): string => pair.desired.serves

interface NestedOptions {
  /** SQL of the `id` and `status` of rows of the component. */
  readonly held: string
  readonly reshape: Reshape
  readonly naming: Naming
}

/** Counts the rows that are nested in these, at any depth, before the migration; null: no component can be. */
function countNested(component: TableState, options: NestedOptions): string | null {
  const levels = nestedRows(component, options)
  return levels.length === 0 ? null : countRows(`(${levels.join(' UNION ALL ')}) AS nested`)
}

const nestedRows = (component: TableState, { held, reshape, naming }: NestedOptions): readonly string[] =>
  reshape.parts.flatMap(({ owner, before }) => {
    if (owner !== component || before === null) return []
    const inner = reshape.holdings.filter(one => before.components.includes(one.before.uid))
    return inner.flatMap(one => {
      const rows = `SELECT c.id, c.status FROM ${naming.table(one)} AS c JOIN (${held}) AS p ON p.id = c.owner_key AND p.status = c.status WHERE c.owner = ${quoteConstant(before.owner)}`
      return [rows, ...nestedRows(one, { held: rows, reshape, naming })]
    })
  })

interface NestedLoss {
  readonly component: TableState
  readonly countQuery: string
  readonly because: string
}

const nestedLoss = ({ component, countQuery, because }: NestedLoss, done: Step): SchemaFinding => {
  const table = component.pair.desired.name
  const lost = '{rows} of nested components'
  return precondition({ code: 'vanished-rows', table, countQuery, because, lost }, [done])
}

function findRemovedComponents(
  { holdings, parts }: Reshape,
  before: readonly SchemaShape[],
): readonly RemovedComponent[] {
  const kept = new Set(
    parts.flatMap(({ before: former, after }) =>
      former === null ? [] : after.components.map(component => `${former.owner} ${component}`),
    ),
  )
  const held = before.flatMap(({ attributes }) =>
    attributes.filter((one): one is ComponentsShape => one.kind === 'parts'),
  )
  const components = holdings.filter(isComponent)
  return held.flatMap(({ owner, components: uids }) =>
    components
      .filter(one => uids.includes(one.before.uid) && !kept.has(`${owner} ${one.after.uid}`))
      .map(component => ({ component, owner })),
  )
}

/** All but the first of a list that is none any more. Previous versions store further ones, also where no list has any now. */
function* keepFirstComponents(
  { after }: ComponentsMove,
  before: ComponentsShape,
  reshape: Reshape,
  { schema, naming }: RemovalOptions,
): Generator<SchemaFinding> {
  yield endPrevious(`take one component alone in \`${after.owner}\``)
  for (const component of reshape.holdings.filter(
    one => isComponent(one) && after.components.includes(one.after.uid),
  )) {
    const rows = (table: string, owner: string) =>
      `(SELECT id, status, row_number() OVER (PARTITION BY owner_key, status, locale ORDER BY position, id) AS place
       FROM ${table} WHERE owner = ${quoteConstant(owner)}) AS list`
    const countQuery = countRows(rows(namesBefore(schema).table(component), before.owner), 'place > 1')
    const table = naming.table(component)
    const remove = `DELETE FROM ${table} AS c USING ${rows(table, after.owner)} WHERE c.id = list.id AND c.status = list.status AND list.place > 1`
    const words = `keep the first ${wordsOf(component)} of each list in \`${after.owner}\``
    const done: Step = {
      ...step('reshape', words, remove, ...printRemoveNested(component, reshape, naming)),
      onlyIf: countQuery,
    }
    yield done
    const because = `\`${after.owner}\` takes one component alone now, which`
    yield precondition(
      {
        code: 'lost-values',
        table: component.pair.desired.name,
        countQuery,
        because,
        lost: 'components after the first in {rows}',
      },
      [done],
    )
    const from = namesBefore(schema)
    const held = `SELECT id, status FROM ${rows(from.table(component), before.owner)} WHERE place > 1`
    const nested = countNested(component, { held, reshape, naming: from })
    if (nested !== null) yield nestedLoss({ component, countQuery: nested, because }, done)
  }
}

/** Takes along what was nested in components that are gone, from the outside in. */
function printRemoveNested(component: TableState, reshape: Reshape, naming: Naming): readonly string[] {
  const nested = reshape.parts.filter(({ owner }) => owner === component)
  return nested.flatMap(({ after }) =>
    after.components.flatMap(uid => {
      const inner = reshape.holdings.find(one => one.after.uid === uid)
      if (inner === undefined) return []
      const hasOwner = `EXISTS (SELECT FROM ${naming.table(component)} AS p WHERE p.id = c.owner_key AND p.status = c.status)`
      const removal = `DELETE FROM ${naming.table(inner)} AS c WHERE owner = ${quoteConstant(after.owner)} AND NOT ${hasOwner}`
      return [removal, ...printRemoveNested(inner, reshape, naming)]
    }),
  )
}

/** SQL that gives a content-type's documents the rows that they are to have. Their links were set aside before. */
function printReshapeVersions(holding: TableState): readonly string[] {
  const { pair, before, after } = holding
  const table = qualified(pair.schema, pair.desired.name)
  const [was, is] = [versionKeyOf(before), versionKeyOf(after)]
  return [
    ...(was === 'id' && is === 'document_key' ? [`UPDATE ${table} SET document_key = id`] : []),
    ...(gainsLocales(holding) ? [`UPDATE ${table} SET locale = ${quoteConstant(after.locale ?? '')}`] : []),
    ...(losesLocales(holding)
      ? [`DELETE FROM ${table} AS o WHERE NOT ${printKeptVersion('o', table, holding)}`]
      : []),
    ...(losesDrafts(holding) ? [`DELETE FROM ${table} WHERE status = 'draft'`] : []),
    ...(is === 'document_key' && after.drafts && after.locale !== null && !hasSharedStamp(holding)
      ? [`UPDATE ${table} SET shared_updated_at = updated_at`]
      : []),
    ...(gainsDrafts(holding) ? addDrafts(holding, table) : []),
    ...(was === 'document_key' && is === 'id'
      ? [`UPDATE ${table} SET id = document_key WHERE id <> document_key`]
      : []),
  ]
}

const hasSharedStamp = ({ before }: TableState): boolean => before.drafts && before.locale !== null

/** The rows that were there are the published ones, and keep their ids. */
function addDrafts({ pair }: TableState, table: string): readonly string[] {
  const copied = pair.desired.columns
    .map(column => column.name)
    .filter(column => !['id', 'status', 'published_at'].includes(column))
    .map(ident)
    .join(', ')
  return [
    `UPDATE ${table} SET status = 'published', published_at = coalesce(published_at, created_at)`,
    `INSERT INTO ${table} (status, published_at, ${copied}) SELECT 'draft', NULL, ${copied} FROM ${table} ORDER BY id`,
  ]
}

/** Values that each locale had and that all locales share from now on. */
function newlyShared(holding: TableState): readonly ValueShape[] {
  const { before, after } = holding
  if (isComponent(holding) || before.locale === null || after.locale === null) return []
  return after.attributes.flatMap(value => {
    if (value.kind !== 'value' || value.localized) return []
    const former = before.attributes.find(
      one => one.kind === 'value' && (one.name === value.name || one.name === value.renamedFrom),
    )
    return former?.localized ? [value] : []
  })
}

/** SQL that gives all locales of a document what its leading one has. */
function printShareValues(holding: TableState, values: readonly ValueShape[]): string {
  const { pair, before } = holding
  const table = qualified(pair.schema, pair.desired.name)
  const columns = values.map(({ column }) => ident(column))
  const set = columns.map(column => `${column} = d.${column}`).join(', ')
  const differs = columns.map(column => `o.${column} IS DISTINCT FROM d.${column}`).join(' OR ')
  const status = before.drafts ? ' AND d.status = o.status' : ''
  const leading = `(d.document_key, d.locale) IN ${printLeadingLocales(table, holding)}`
  return `UPDATE ${table} AS o SET ${set} FROM ${table} AS d WHERE d.document_key = o.document_key${status} AND ${leading} AND (${differs})`
}

function localeWords(holding: TableState): string {
  const [first, ...others] = keptLocales(holding)
  const rest = others.length === 0 ? '' : `, or ${others.join(', ')} in documents without it`
  return `keep the locale ${first} alone${rest}`
}

/** One line for a reader. */
function versionWords(holding: TableState): string {
  const { pair, after } = holding
  const changes = [
    ...(gainsLocales(holding) ? [`make what is there the locale ${after.locale}`] : []),
    ...(losesLocales(holding) ? [localeWords(holding)] : []),
    ...(gainsDrafts(holding) ? ['make what is there published, with an equal draft'] : []),
    ...(losesDrafts(holding) ? ['keep what is published alone'] : []),
  ]
  return `${pair.desired.serves}: ${changes.join(', ')}`
}
