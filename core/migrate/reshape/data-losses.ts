import type { SchemaShape, ValueShape } from '../../model/storage.ts'
import { qualified, quoteConstant } from '../../sql/ddl.ts'
import { quoteIdentifier as ident } from '../../sql/identifier.ts'
import {
  type RefusalCode,
  type SchemaFinding,
  type SchemaPrecondition,
  type Step,
  step,
} from '../schema/finding.ts'
import type { TablePair } from '../schema/pair-tables.ts'
import { countRows, countTooMany, sample } from '../schema/row-counts.ts'
import {
  keptLocales,
  type Naming,
  printComponentLinks,
  printKeptVersion,
  printLeadingLocales,
} from './component-links.ts'
import {
  isComponent,
  type LinkMove,
  losesDrafts,
  losesLocales,
  type Reshape,
  type StoredLinks,
  type TableState,
} from './reshape.ts'

type Retargeted = Reshape['retargeted'][number]

/** The lost data, its table, and the setting that would keep it. */
interface Loss {
  readonly code: RefusalCode
  readonly table: string
  readonly countQuery: string
  /** `{rows}` and `{values}` as in messages. */
  readonly lost: string
  readonly because: string
}

export const precondition = (
  { code, table, countQuery, lost, because }: Loss,
  steps: readonly Step[],
): SchemaPrecondition => ({
  kind: 'precondition',
  code,
  table,
  countQuery,
  message: `${because} loses ${lost}: undo that, or give them up with \`plinth migrate --allow-destructive\``,
  price: { weight: 'destructive', note: `loses ${lost}`, steps },
})

/** Data lost by turning drafts or locales off; checked before any step. */
export function* versionLosses(holding: TableState, done: Step): Generator<SchemaPrecondition> {
  const { pair, before } = holding
  const from = qualified(pair.schema, pair.actual.name)
  const table = pair.desired.name
  const own = `\`${lastQuoted(pair.desired.serves)}\``
  const along = before.attributes.some(({ kind }) => kind !== 'value')
    ? ', with their components and links'
    : ''
  if (losesLocales(holding)) {
    const locales = keptLocales(holding)
    const kept = printKeptVersion('o', from, holding)
    const because = `turning \`localized\` off for ${own}`
    const others = `(SELECT locale AS value, count(*)::integer AS n FROM ${from} AS o WHERE NOT ${kept} GROUP BY locale)`
    yield precondition(
      {
        code: 'lost-versions',
        table,
        countQuery: sample(others),
        because,
        lost: `{rows} of other locales than ${locales[0]}${along}: {values}`,
      },
      [done],
    )
    const without = `d.locale IN (${locales.map(quoteConstant).join(', ')})`
    yield precondition(
      {
        code: 'lost-versions',
        table,
        countQuery: documentsWithout(from, without),
        because,
        lost: `{rows} with no version in ${locales.join(' or ')}, as documents: {values}`,
      },
      [done],
    )
  }
  if (!losesDrafts(holding)) return
  const because = `turning \`draftAndPublish\` off for ${own}`
  yield precondition(
    {
      code: 'lost-versions',
      table,
      countQuery: documentsWithout(from, `d.status = 'published'${sameLocale(before, 'd', 'o')}`),
      because,
      lost: `{rows} of documents that were never published${along}: {values}`,
    },
    [done],
  )
  yield precondition(
    {
      code: 'lost-versions',
      table,
      countQuery: editedDrafts(holding, from),
      because,
      lost: 'changes not yet published in {rows}: {values}',
    },
    [done],
  )
}

/** The documents that no version of this kind is there of, by the number of versions that they have. */
const documentsWithout = (from: string, kept: string): string =>
  sample(
    `SELECT document_id AS value, count(*)::integer AS n FROM ${from} AS o WHERE NOT EXISTS
    (SELECT FROM ${from} AS d WHERE d.document_key = o.document_key AND ${kept}) GROUP BY document_id`,
  )

const sameLocale = ({ locale }: SchemaShape, one: string, other: string): string =>
  locale === null ? '' : ` AND ${one}.locale = ${other}.locale`

function editedDrafts({ before }: TableState, from: string): string {
  return sample(
    `SELECT d.document_id AS value, count(*)::integer AS n FROM ${from} AS d JOIN ${from} AS p ON p.document_key = d.document_key${sameLocale(before, 'd', 'p')}
    WHERE d.status = 'draft' AND p.status = 'published' AND (${stampsDiffer(before, 'd')}) GROUP BY d.document_id`,
  )
}

/** SQL that is true if a draft was changed since its publication as `p`. */
function stampsDiffer({ locale }: SchemaShape, draft: string): string {
  const stamps = ['updated_at', ...(locale === null ? [] : ['shared_updated_at'])]
  return stamps.map(stamp => `${draft}.${stamp} IS DISTINCT FROM p.${stamp}`).join(' OR ')
}

/** Owners or targets that have more links than the relation allows. */
export function* linkLosses(move: LinkMove, naming: Naming, done: Step): Generator<SchemaPrecondition> {
  const { owner, link, source } = move
  yield* sharedLinkLosses(move, naming, done)
  yield* draftLinkLosses(move, naming, done)
  const edges = `(${printComponentLinks(move, { naming, withParts: false })}) AS edges`
  const own = `\`${link.name}\` of ${owner.pair.desired.serves}`
  const table = owner.pair.desired.name
  // Links that stay in their column are single, and its unique index asks whether they are exclusive.
  const stays = source.link.link.kind === 'column' && !source.swapped
  if (link.link.kind === 'column' && !stays) {
    const countQuery = countSurplus(
      edges,
      ['owner_key', 'owner_status', 'owner_locale', 'target_status'],
      'target_key',
    )
    const because = `${own} takes one link alone now, which`
    yield precondition(
      { code: 'lost-links', table, countQuery, because, lost: '{rows} of links after the first' },
      [done],
    )
  }
  if (link.exclusive && !source.link.exclusive && !stays) {
    const countQuery = countSurplus(
      edges,
      ['target_key', 'owner_status', 'owner_locale', 'target_status'],
      'owner_key',
    )
    const message = `${own} lets a document be linked once, but there are {rows} more of links: remove those first`
    yield { kind: 'precondition', code: 'not-unique', table, countQuery, message }
  }
}

/** Links that the leading locale lacks, in lists that become shared by all locales. */
function* sharedLinkLosses(move: LinkMove, naming: Naming, done: Step): Generator<SchemaPrecondition> {
  const { owner, link, source } = move
  const { before, after, pair } = owner
  if (before.locale === null || after.locale === null || link.localized || !source.link.localized) return
  const edges = printComponentLinks(
    { ...move, link: { ...link, localized: true } },
    { naming, withParts: false },
  )
  const leaders = printLeadingLocales(naming.table(owner), owner)
  const leading = (edge: string) => `(${edge}.owner_key, ${edge}.owner_locale) IN ${leaders}`
  const same = ['owner_key', 'owner_status', 'target_key', 'target_status'].map(
    column => `own.${column} IS NOT DISTINCT FROM lead.${column}`,
  )
  const kept = `EXISTS (SELECT FROM (${edges}) AS lead WHERE ${[leading('lead'), ...same].join(' AND ')})`
  const countQuery = countRows(`(${edges}) AS own`, `NOT ${leading('own')} AND NOT ${kept}`)
  const because = `turning \`localized\` off for \`${link.name}\` of ${pair.desired.serves}`
  const lost = 'links of further locales in {rows}'
  yield precondition({ code: 'lost-links', table: pair.desired.name, countQuery, because, lost }, [done])
}

/** Components that further locales have for themselves, of an attribute that locales come to share. */
export function* partLosses(reshape: Reshape, naming: Naming, done: Step): Generator<SchemaPrecondition> {
  for (const { owner, before, after } of reshape.parts) {
    const { pair } = owner
    if (isComponent(owner) || owner.before.locale === null || owner.after.locale === null) continue
    if (!before?.localized || after.localized) continue
    const leaders = printLeadingLocales(naming.table(owner), owner)
    for (const component of reshape.holdings.filter(({ before: one }) =>
      before.components.includes(one.uid),
    )) {
      const own = `owner = ${quoteConstant(before.owner)} AND (owner_key, locale) NOT IN ${leaders}`
      const countQuery = countRows(naming.table(component), own)
      const because = `turning \`localized\` off for \`${after.name}\` of ${pair.desired.serves}`
      const lost = 'components of further locales in {rows}'
      yield precondition({ code: 'lost-values', table: pair.desired.name, countQuery, because, lost }, [done])
    }
  }
}

/**
 * Links that only drafts show, if drafts are turned off at either end. Links of a draft that were written from the other side do
 * not count as its changes (versionLosses), and a link may lead to the draft of its target alone.
 */
function* draftLinkLosses(move: LinkMove, naming: Naming, done: Step): Generator<SchemaPrecondition> {
  const { owner, target, source } = move
  const { holding, link, swapped } = source
  const other = swapped ? owner : target
  const loss = ({ pair }: TableState, countQuery: string): SchemaPrecondition => {
    const because = `turning \`draftAndPublish\` off for \`${lastQuoted(pair.desired.serves)}\``
    const lost = `links of \`${link.name}\` of ${holding.pair.desired.serves} that only drafts show, in {rows}`
    return precondition({ code: 'lost-links', table: owner.pair.desired.name, countQuery, because, lost }, [
      done,
    ])
  }
  if (losesDrafts(holding) && !isComponent(holding)) {
    const stored = { ...move, owner: holding, target: other, link, source: { holding, link, swapped: false } }
    yield loss(
      holding,
      linksOfDrafts(holding, printComponentLinks(stored, { naming, withParts: false }), naming),
    )
  }
  const query = losesDrafts(other) ? linksToDrafts(source, naming) : null
  if (query !== null) yield loss(other, query)
}

/** Links of drafts that count as unchanged, and whose published version lacks them. */
function linksOfDrafts(holding: TableState, edges: string, naming: Naming): string {
  const { before } = holding
  const table = naming.table(holding)
  const same = ['owner_key', 'owner_locale', 'target_key', 'target_status', 'target_locale'].map(
    column => `p.${column} IS NOT DISTINCT FROM d.${column}`,
  )
  const isUnchanged = `EXISTS (SELECT FROM ${table} AS o JOIN ${table} AS p ON p.document_key = o.document_key${sameLocale(before, 'p', 'o')}
    WHERE o.document_key = d.owner_key${before.locale === null ? '' : ' AND o.locale = d.owner_locale'} AND o.status = 'draft' AND p.status = 'published' AND NOT (${stampsDiffer(before, 'o')}))`
  return countRows(
    `(${edges}) AS d`,
    `d.owner_status = 'draft' AND NOT EXISTS (SELECT FROM (${edges}) AS p WHERE p.owner_status = 'published' AND ${same.join(' AND ')}) AND ${isUnchanged}`,
  )
}

/** Links to the draft of a target alone; null: links do not name the status of their target. */
function linksToDrafts({ holding, link: { link } }: StoredLinks, naming: Naming): string | null {
  if (link.kind === 'column') {
    if (link.draftKey === null) return null
    const [key, draftKey] = [link.key, link.draftKey].map(column => naming.column(holding, column))
    return countRows(naming.table(holding), `${draftKey} IS NOT NULL AND ${draftKey} IS DISTINCT FROM ${key}`)
  }
  if (link.targetStatus === null) return null
  const table = naming.linkTable(link.table)
  const same = [...link.owner.map(([column]) => ident(column)), 'target_key'].map(
    column => `p.${column} IS NOT DISTINCT FROM d.${column}`,
  )
  return countRows(
    `${table} AS d`,
    `target_status = 'draft' AND NOT EXISTS (SELECT FROM ${table} AS p WHERE p.target_status = 'published' AND ${same.join(' AND ')})`,
  )
}

const countSurplus = (edges: string, by: readonly string[], counted: string): string =>
  `SELECT coalesce(sum(n - 1), 0)::integer AS "rows", '[]' AS "values" FROM (SELECT count(DISTINCT ${counted}) AS n FROM ${edges} GROUP BY ${by.join(', ')}) AS found`

/** Links whose attribute leads elsewhere now: the keys that are stored would name documents of the wrong content-type. */
export function* refuseRetargetedLinks(
  { owner, link, former }: Retargeted,
  naming: Naming,
): Generator<SchemaFinding> {
  const { pair } = owner
  const own = `\`${link.name}\` of ${pair.desired.serves}`
  const stored = former.link
  const columns = columnsOfLink(stored)
  const now = columns.map(column => naming.column(owner, column))
  const clear =
    stored.kind === 'table'
      ? `DELETE FROM ${naming.linkTable(stored.table)}`
      : `UPDATE ${naming.table(owner)} SET ${now.map(column => `${column} = NULL`).join(', ')}`
  const done = step('reshape', `empty ${own}, which leads to another content-type now`, clear)
  yield done
  const set = columns.map(column => `${ident(column)} IS NOT NULL`).join(' OR ')
  const countQuery =
    stored.kind === 'table'
      ? countRows(qualified(pair.schema, stored.table))
      : countRows(qualified(pair.schema, pair.actual.name), set)
  const because = `${own} leads to another content-type now, which`
  const table = pair.desired.name
  yield precondition({ code: 'lost-links', table, countQuery, because, lost: 'links in {rows}' }, [done])
}

const columnsOfLink = (link: LinkMove['link']['link']): readonly string[] =>
  link.kind === 'table'
    ? []
    : [link.key, link.draftKey, link.locale, link.draftLocale, link.inversePosition].filter(
        one => one !== null,
      )

/** Values of further locales that differ from the leading locale's. */
export function valueLosses(
  holding: TableState,
  values: readonly ValueShape[],
  done: Step,
): SchemaPrecondition {
  const { pair, before } = holding
  const from = qualified(pair.schema, pair.actual.name)
  const columns = values.map(({ column }) => ident(pair.columns.get(column)?.name ?? column))
  const differs = columns.map(column => `o.${column} IS DISTINCT FROM d.${column}`).join(' OR ')
  const status = before.drafts ? ' AND d.status = o.status' : ''
  const leading = `(d.document_key, d.locale) IN ${printLeadingLocales(from, holding)}`
  const countQuery = countRows(
    `${from} AS o JOIN ${from} AS d ON d.document_key = o.document_key${status} AND ${leading}`,
    differs,
  )
  const names = values.map(value => `\`${value.name}\``).join(', ')
  const because = `turning \`localized\` off for ${names} of ${pair.desired.serves}`
  const lost = 'the other values of further locales in {rows}'
  return precondition({ code: 'lost-values', table: pair.desired.name, countQuery, because, lost }, [done])
}

/** A rewrite of more rows than this is not done by a start. */
export function largeReshape(rows: string, pair: TablePair, done: Step): SchemaPrecondition {
  const message = `${done.summary}: not at a start, because {rows} would be locked meanwhile: \`plinth migrate\` does it when it suits you`
  return {
    kind: 'precondition',
    code: 'too-large',
    table: pair.desired.name,
    countQuery: countTooMany(rows, pair.manyRows),
    message,
    price: { weight: 'slow', note: '{rows}, locked meanwhile', steps: [done] },
  }
}

/** The text between the last pair of backticks; the whole text if there is none. */
const lastQuoted = (text: string): string => {
  const parts = text.split('`')
  return parts.length > 2 ? (parts.at(-2) ?? text) : text
}
