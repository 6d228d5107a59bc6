import type { ValueShape } from '../../model/storage.ts'
import { qualified, quoteConstant } from '../../sql/ddl.ts'
import { quoteIdentifier as name } from '../../sql/identifier.ts'
import { printLeadingLocales } from './component-links.ts'
import {
  gainsDrafts,
  gainsLocales,
  isComponent,
  losesDrafts,
  losesLocales,
  type TableState,
  versionKeyOf,
} from './reshape.ts'

/** SQL that gives a content-type's documents the rows that they are to have. Their links were set aside before. */
export function printReshapeVersions(holding: TableState): readonly string[] {
  const { pair, before, after } = holding
  const table = qualified(pair.schema, pair.desired.name)
  const [was, is] = [versionKeyOf(before), versionKeyOf(after)]
  return [
    ...(was === 'id' && is === 'document_key' ? [`UPDATE ${table} SET document_key = id`] : []),
    ...(gainsLocales(holding) ? [`UPDATE ${table} SET locale = ${quoteConstant(after.locale ?? '')}`] : []),
    ...(losesLocales(holding)
      ? [`DELETE FROM ${table} WHERE locale <> ${quoteConstant(before.locale ?? '')}`]
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
    .map(name)
    .join(', ')
  return [
    `UPDATE ${table} SET status = 'published', published_at = coalesce(published_at, created_at)`,
    `INSERT INTO ${table} (status, published_at, ${copied}) SELECT 'draft', NULL, ${copied} FROM ${table} ORDER BY id`,
  ]
}

/** Values that each locale had and that all locales share from now on. */
export function newlyShared(holding: TableState): readonly ValueShape[] {
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
export function printShareValues({ pair, before, after }: TableState, values: readonly ValueShape[]): string {
  const table = qualified(pair.schema, pair.desired.name)
  const columns = values.map(({ column }) => name(column))
  const set = columns.map(column => `${column} = d.${column}`).join(', ')
  const differs = columns.map(column => `o.${column} IS DISTINCT FROM d.${column}`).join(' OR ')
  const status = before.drafts ? ' AND d.status = o.status' : ''
  const leading = `(d.document_key, d.locale) IN ${printLeadingLocales(table, after.locale ?? '')}`
  return `UPDATE ${table} AS o SET ${set} FROM ${table} AS d WHERE d.document_key = o.document_key${status} AND ${leading} AND (${differs})`
}

/** One line for a reader. */
export function versionWords(holding: TableState): string {
  const { pair, before, after } = holding
  const changes = [
    ...(gainsLocales(holding) ? [`make what is there the locale ${after.locale}`] : []),
    ...(losesLocales(holding) ? [`keep the locale ${before.locale} alone`] : []),
    ...(gainsDrafts(holding) ? ['make what is there published, with an equal draft'] : []),
    ...(losesDrafts(holding) ? ['keep what is published alone'] : []),
  ]
  return `${pair.desired.serves}: ${changes.join(', ')}`
}
