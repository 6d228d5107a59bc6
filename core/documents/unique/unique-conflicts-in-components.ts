import { memoize } from '../../base/memo.ts'
import { groupBy } from '../../base/plain-data.ts'
import type { Path } from '../../faults/diagnostic.ts'
import { fitsIndex } from '../../model/columns.ts'
import {
  type Attribute,
  type Component,
  type ContentType,
  componentsOf,
  type Holder,
  type ScalarAttribute,
} from '../../model/model.ts'
import type { DesiredDocument, Values } from '../desired-state.ts'
import { isShared } from '../rows/planning.ts'
import type { CurrentComponent } from '../rows/write-load.ts'
import type { LockingOptions } from '../rows/write-options.ts'
import { columnsOf } from '../sql/write-print.ts'
import { type CurrentRow, numberIn } from '../sql/write-rows.ts'
import type { VersionContext } from '../state/version-context.ts'
import { componentsIn, type VersionPlace } from '../state/version-values.ts'
import { notUnique, type ValueFault } from '../values/value-fault.ts'
import { type ClaimedValue, printUniqueConflicts } from './unique-conflicts.ts'

/** A value of a component that must be unique. */
export interface PartClaim extends ClaimedValue {
  readonly component: Component
  readonly attribute: ScalarAttribute
  readonly path: Path
}

/**
 * Finds conflicts of unique component values. Their scope is all published components of the kind in a locale, in any
 * document; for types without drafts, and for values that all locales share, it is all components. Values that this
 * write removes do not conflict.
 */
export async function findComponentConflicts(
  document: DesiredDocument,
  context: VersionContext,
  options: LockingOptions,
): Promise<readonly ValueFault[]> {
  if (!holdsUniqueParts(document.type)) return []
  const versions = document.versions.filter(({ statuses }) => statuses.includes('published'))
  const claims = versions.flatMap(({ values, locale }) => [...claimsIn(document.type, values, [], locale)])
  if (claims.length === 0) return []
  const there = versions.flatMap(({ values }) => [...componentsThere(document.type, values, context)])
  const own = groupBy(there, each => each.component)
  const idsOf = (component: Component) => own.get(component)?.map(({ row }) => numberIn(row, 'id')) ?? []
  const taken = await findConflictingClaims(claims, idsOf, options)
  return taken.map(({ path, value }) => notUnique(path, String(value)))
}

/**
 * Claims that components have which are none of those given, or that are claimed twice: then they are the first one's.
 * One statement an attribute.
 */
export async function findConflictingClaims<Claim extends PartClaim>(
  claims: readonly Claim[],
  idsOf: (component: Component) => readonly number[],
  options: LockingOptions,
): Promise<readonly Claim[]> {
  const asked = byAttribute(claims).map(([{ component }, group]) => takenOf(group, idsOf(component), options))
  return (await Promise.all(asked)).flat()
}

const byAttribute = <Claim extends PartClaim>(
  claims: readonly Claim[],
): readonly (readonly [Claim, readonly Claim[]])[] =>
  [...groupBy(claims, each => each.attribute).values()].flatMap(group =>
    group[0] ? [[group[0], group] as const] : [],
  )

/** The unique values of a document's components. Shared components are in every version, and count once. */
export function partClaimsOf({ type, versions }: DesiredDocument): readonly PartClaim[] {
  if (!holdsUniqueParts(type)) return []
  return versions
    .filter(({ statuses }) => statuses.includes('published'))
    .flatMap(({ values, locale }, index) => {
      const own = [...values].filter(([name]) => index === 0 || !isShared(type, type.attributes.get(name)))
      return [...claimsIn(type, new Map(own), [], locale)]
    })
}

/** True if components of the holder, at any depth, have attributes whose values must be unique. */
const holdsUniqueParts = memoize((holder: Holder): boolean => {
  const seen = new Set<Component>()
  const holds = (each: Holder): boolean =>
    [...each.attributes.values()].flatMap(componentsOf).some(component => {
      if (seen.has(component)) return false
      seen.add(component)
      return isUniqueHolder(component) || holds(component)
    })
  return holds(holder)
})

const isUniqueHolder = ({ attributes }: Holder): boolean =>
  [...attributes.values()].some(attribute => attribute.kind === 'scalar' && attribute.unique)

/** The unique values of a version's components. */
function* claimsIn(
  holder: Holder,
  values: Values,
  parent: Path,
  locale: string | null,
): Generator<PartClaim> {
  for (const [name, value] of values) {
    const attribute = holder.attributes.get(name)
    if (!attribute) continue
    const path = [...parent, name]
    if (value.kind === 'components')
      for (const [index, { component, values: inner }] of value.items.entries())
        yield* claimsIn(
          component,
          inner,
          isList(attribute) ? [...path, index] : path,
          localeOf(holder, attribute, locale),
        )
    if (holder.holder !== 'component' || value.kind !== 'scalar' || value.value === null) continue
    if (attribute.kind === 'scalar' && attribute.unique)
      yield { component: holder, attribute, path, locale, value: value.value }
  }
}

const isList = (attribute: Attribute): boolean =>
  attribute.kind === 'zone' || (attribute.kind === 'component' && attribute.repeatable)

/** Components that all locales share have none, and neither has what is nested in them. */
const localeOf = (holder: Holder, attribute: Attribute, locale: string | null): string | null =>
  holder.holder === 'component' || attribute.localized ? locale : null

/** Components that the document has in the attributes that are written, in either status: they keep their ids. */
function componentsThere(
  type: ContentType,
  values: Values,
  { row, sibling, place }: VersionContext,
): Iterable<CurrentComponent> {
  const there = row ?? sibling
  return there ? componentsBelow(type, there, values.keys(), place) : []
}

/**
 * The components of these attributes of a row, in all statuses, with those that are nested in them. A component has the same
 * id in both statuses, and its nested components are those of the id: entering both rows would double the work with each level.
 */
export function* componentsBelow(
  holder: Holder,
  row: CurrentRow,
  names: Iterable<string>,
  place: VersionPlace,
): Generator<CurrentComponent> {
  for (const name of names) {
    const attribute = holder.attributes.get(name)
    if (!attribute) continue
    const entered = new Map<Component, Set<number>>()
    for (const each of componentsIn(holder, row, attribute, place)) {
      yield each
      const ids = entered.get(each.component) ?? new Set()
      entered.set(each.component, ids)
      const id = numberIn(each.row, 'id')
      if (ids.has(id)) continue
      ids.add(id)
      yield* componentsBelow(each.component, each.row, each.component.attributes.keys(), place)
    }
  }
}

/** The conflicts of one attribute. Of equal values the first one keeps it. */
async function takenOf<Claim extends PartClaim>(
  claims: readonly Claim[],
  own: readonly number[],
  { transaction, storage }: LockingOptions,
): Promise<readonly Claim[]> {
  const [first] = claims
  if (!first) return []
  const { component, attribute } = first
  const table = storage.componentTable(component)
  const column = storage.column(component, attribute.name)
  // No index holds these apart (core/model/component-table.ts): who writes at the same moment waits.
  const unheld = claims.some(({ locale }) => locale === null) || !fitsIndex(attribute)
  if (unheld) await transaction.lock(`unique ${table.name} ${column}`)
  const statement = printUniqueConflicts(claims, {
    called: `${attribute.name} of ${component.uid}`,
    table: table.name,
    column,
    isIndexed: fitsIndex(attribute),
    types: columnsOf(storage, table.name),
    published: table.status,
    locale: table.locale,
    but: { columns: [table.id], rows: own.map(id => [id]) },
  })
  const { rows } = await transaction.run(statement)
  const taken = new Set(rows.map(([place]) => Number(place) - 1))
  const firsts = new Set(
    [...groupBy(claims, ({ value, locale }) => JSON.stringify([value, locale])).values()].map(
      ([each]) => each,
    ),
  )
  return claims.filter((claim, place) => taken.has(place) || !firsts.has(claim))
}
