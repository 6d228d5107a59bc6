import type { Attribute } from '../../model/model.ts'
import type { ColumnLink } from '../../model/storage.ts'
import type { Stored } from '../desired-state.ts'
import type { Changes, Columns } from '../sql/write-rows.ts'

/** The version whose link it is: what tells its rows apart from those of other statuses and locales. */
export type Coordinates = ReadonlyMap<string, Stored>

/** documents.md 13: within one status and locale a two-way one-to-one has one owner; a new one takes it from the former. */
export function releaseFormer(
  { attribute, link }: { readonly attribute: Attribute; readonly link: ColumnLink },
  {
    table,
    columns,
    coordinates,
  }: { readonly table: string; readonly columns: Columns; readonly coordinates: Coordinates },
  changes: Changes,
): void {
  if (attribute.kind !== 'relation' || attribute.relation !== 'oneToOne' || attribute.counterpart === null)
    return
  const slots = [
    [link.key, link.locale],
    [link.draftKey, link.draftLocale],
  ] as const
  for (const [key, locale] of slots) {
    const target = key === null ? null : columns.get(key)
    if (key === null || typeof target !== 'number') continue
    const named = locale === null ? undefined : columns.get(locale)
    const holding = new Map<string, Stored>([[key, target], ...coordinates])
    if (locale !== null && typeof named === 'string') holding.set(locale, named)
    changes.releases.push({ table, holding, columns: [key, ...(locale === null ? [] : [locale])] })
  }
}
