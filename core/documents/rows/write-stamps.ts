import type { ContentType } from '../../model/model.ts'
import type { Values } from '../desired-state.ts'
import type { RowValue } from '../sql/write-rows.ts'
import type { ChangedParts, Shared, Version } from './planning.ts'
import type { WriteTerms } from './write-terms.ts'

export interface Stamping {
  readonly type: ContentType
  readonly version: Version
  /** All that are written. */
  readonly versions: readonly Version[]
  readonly shared: Shared
  readonly changed: ChangedParts
  /** What all locales share changes in some row of the document. */
  readonly allMoved: boolean
  /** Those of the version's row that change. */
  readonly columns: ReadonlySet<string>
}

/**
 * The stamps that a row gets because something in its version changed, or because it is written at all. What
 * changed for this locale alone, and what changed for all of them, have a stamp each (reference/documents.md#4-time-stamps).
 */
export function stampsOf(stamping: Stamping, terms: WriteTerms): readonly (readonly [string, RowValue])[] {
  const { type, version } = stamping
  const isCovered = version.values !== undefined
  const written = terms.touch && isCovered
  const { own, all: moved } = whatChanged(stamping, terms)
  const all = moved || stamping.allMoved
  if (!own && !all && !written) return []
  const twofold = type.draftAndPublish && type.localized
  const names = [
    ...(own || written || (all && !twofold) ? ['updated_at'] : []),
    ...(all && twofold ? ['shared_updated_at'] : []),
  ]
  const stamps = names.map((name): readonly [string, RowValue] => [name, terms.now])
  const published = version.status === 'published' && isCovered ? publishedAt(version, terms) : []
  return [...stamps, ...published, ...unpublished(stamping, names)]
}

/** The stamp of a draft is null; it is set again together with the published row, in the same statement. */
function unpublished({ version, versions }: Stamping, names: readonly string[]): readonly [string, null][] {
  if (version.status !== 'draft' || version.values === undefined || names.length === 0) return []
  const isTwin = ({ values, status, locale }: Version) =>
    values === version.values && status === 'published' && locale === version.locale
  return versions.some(isTwin) && !keeps(version) ? [['published_at', null]] : []
}

const publishedAt = (version: Version, { now }: WriteTerms): readonly (readonly [string, RowValue])[] =>
  keeps(version) ? [] : [['published_at', version.publishing?.at ?? now]]

const keeps = ({ publishing }: Version): boolean => publishing?.keeps === true && publishing.at === undefined

function whatChanged({ type, version, shared, changed, columns }: Stamping, terms: WriteTerms) {
  const sharedColumns = columnsOf(type, shared.get(version.status), terms)
  const parts = changed.filter(({ statuses }) => statuses.includes(version.status))
  const names = [...columns]
  return {
    own:
      parts.some(({ locale }) => locale === version.locale) || names.some(name => !sharedColumns.has(name)),
    all:
      parts.some(({ locale }) => type.localized && locale === null) ||
      names.some(name => sharedColumns.has(name)),
  }
}

function columnsOf(
  type: ContentType,
  values: Values | undefined,
  { storage }: WriteTerms,
): ReadonlySet<string> {
  const names = [...(values?.keys() ?? [])].flatMap(name => {
    const attribute = type.attributes.get(name)
    if (attribute?.kind === 'scalar') return [storage.column(type, name)]
    if (attribute?.kind !== 'media' || attribute.many) return []
    const link = storage.link(type, name)
    return link.kind === 'column' ? [link.key] : []
  })
  return new Set(names)
}
