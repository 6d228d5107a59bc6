import type { Component, ContentType } from '../../model/model.ts'
import type { DesiredDocument, DesiredVersion, Values } from '../desired-state.ts'
import { isShared } from '../rows/planning.ts'
import type { Current } from '../rows/write-load.ts'
import type { LockingOptions, WriteOptions } from '../rows/write-options.ts'
import { type CurrentRow, numberIn } from '../sql/write-rows.ts'
import type { VersionContext } from '../state/version-context.ts'
import { notUnique, type ValueFault } from '../values/value-fault.ts'
import { findUniqueConflicts } from './unique-conflicts.ts'
import { componentsBelow, findComponentConflicts } from './unique-conflicts-in-components.ts'

/** Checks unique values of all published rows that the write changes, also of other locales if shared values change (reference/documents.md#5-uniqueness). */
export async function checkUnique(
  document: DesiredDocument,
  context: VersionContext,
  options: LockingOptions,
): Promise<readonly ValueFault[]> {
  const { type, documentId } = document
  const published = document.versions.filter(({ statuses }) => statuses.includes('published'))
  const versions = published.flatMap(version => claimsOf(document, version, context, options))
  const [found, parts] = await Promise.all([
    findUniqueConflicts([{ type, documentId, versions }], options),
    findComponentConflicts(document, context, options),
  ])
  const values = new Map(found.map(({ attribute, value }) => [attribute.name, value]))
  return [...Array.from(values, ([name, value]) => notUnique([name], value)), ...parts]
}

/** The unique values of a version: its own ones, and the shared ones for the other locales. */
function claimsOf(
  { type, documentId }: DesiredDocument,
  version: DesiredVersion,
  { place }: VersionContext,
  options: WriteOptions,
): readonly DesiredVersion[] {
  const rows = place.current
    .rows(type, documentId)
    .filter(row => !type.draftAndPublish || row.get('status') === 'published')
  const mine = rows.find(row => !type.localized || row.get('locale') === version.locale)
  const own = changedUnique(type, version.values, mine, options)
  const shared = new Map([...own].filter(([name]) => isShared(type, type.attributes.get(name))))
  const others = rows.filter(row => row !== mine).map(row => String(row.get('locale')))
  return [{ ...version, values: own }, ...others.map(locale => ({ ...version, locale, values: shared }))]
}

const changedUnique = (
  type: ContentType,
  values: Values,
  row: CurrentRow | undefined,
  { storage }: WriteOptions,
): Values =>
  new Map(
    [...values].filter(([name, value]) => {
      const attribute = type.attributes.get(name)
      if (attribute?.kind !== 'scalar' || !attribute.unique || value.kind !== 'scalar') return false
      return row === undefined || row.get(storage.column(type, name)) !== value.value
    }),
  )

type OwnDocument = Pick<DesiredDocument, 'type' | 'documentId'>

/** The ids of the components that documents have already, in all that is loaded of them; by their kind. */
export function ownParts(
  documents: readonly OwnDocument[],
  current: Current,
  options: WriteOptions,
): (component: Component) => readonly number[] {
  const ids = new Map<Component, Set<number>>()
  for (const [component, id] of documents.flatMap(each => [...partsOf(each, current, options)]))
    ids.set(component, (ids.get(component) ?? new Set<number>()).add(id))
  return component => [...(ids.get(component) ?? [])]
}

function* partsOf(
  { type, documentId }: OwnDocument,
  current: Current,
  options: WriteOptions,
): Generator<readonly [Component, number]> {
  for (const row of current.rows(type, documentId)) {
    const locale = row.get('locale')
    const place = {
      root: type,
      status: row.get('status') === 'draft' ? 'draft' : 'published',
      locale: typeof locale === 'string' ? locale : null,
      current,
      options,
    } as const
    for (const each of componentsBelow(type, row, type.attributes.keys(), place))
      yield [each.component, numberIn(each.row, 'id')]
  }
}
