import type { RelationAttribute } from '../model/model.ts'
import { groupBy } from './group.ts'
import { applyChanges, type NewIds, numberOf } from './write-apply.ts'
import { planInverseColumn } from './write-inverse-column.ts'
import type { Inverse, InverseLinks } from './write-inverse-links.ts'
import { planInverseTable } from './write-inverse-table.ts'
import type { Keys } from './write-keys.ts'
import { noChanges } from './write-rows.ts'
import type { WriteTerms } from './write-terms.ts'
import type { LinkTarget, WrittenDocument } from './written.ts'

interface Written {
  readonly keys: Keys
  readonly ids: NewIds
  readonly terms: WriteTerms
}

/**
 * Brings the owners' links to what the inverse attributes of the documents say (documents.md 12): from a type
 * without drafts the owners' drafts and published rows alike, else those of the statuses written. Owners' stamps stay.
 */
export async function writeInverses(documents: readonly WrittenDocument[], written: Written): Promise<void> {
  for (const [type, group] of groupBy(documents, each => each.type)) {
    for (const attribute of type.attributes.values()) {
      if (attribute.kind !== 'relation' || attribute.side !== 'inverse') continue
      const links = group.flatMap(document => linksOf(document, attribute, written))
      if (links.length > 0) await writeInverse(attribute, links, written.terms)
    }
  }
}

/** Whether it says who links to it. */
export const isInverselyLinked = ({ type, versions }: WrittenDocument): boolean =>
  versions.some(({ values }) =>
    [...values].some(([name, { kind }]) => {
      const attribute = kind === 'links' ? type.attributes.get(name) : undefined
      return attribute?.kind === 'relation' && attribute.side === 'inverse'
    }),
  )

function linksOf(
  { type, documentId, versions }: WrittenDocument,
  attribute: RelationAttribute,
  { keys, ids }: Written,
): readonly InverseLinks[] {
  const key = keys(type, documentId)
  return versions.flatMap(version => {
    const value = version.values.get(attribute.name)
    if (value?.kind !== 'links' || key === undefined) return []
    const targets = attribute.many ? value.targets : ofLast(value.targets)
    return [{ key: numberOf(key, ids), type, version, owners: ownersOf(targets, attribute, { keys, ids }) }]
  })
}

/** The last owner, in all versions that are named of it. */
const ofLast = (targets: readonly LinkTarget[]): readonly LinkTarget[] => {
  const last = targets.at(-1)
  return targets.filter(each => each.key === last?.key && each.documentId === last?.documentId)
}

function ownersOf(
  targets: readonly LinkTarget[],
  attribute: RelationAttribute,
  { keys, ids }: Pick<Written, 'keys' | 'ids'>,
): InverseLinks['owners'] {
  const owners = targets.flatMap(({ documentId, locale, status, key: known }) => {
    const key = known ?? keys(attribute.target, documentId)
    return key === undefined ? [] : [{ key: numberOf(key, ids), locale, status }]
  })
  return owners.filter(
    (owner, index) =>
      owners.findIndex(
        each => each.key === owner.key && each.locale === owner.locale && each.status === owner.status,
      ) === index,
  )
}

async function writeInverse(
  attribute: RelationAttribute,
  links: readonly InverseLinks[],
  terms: WriteTerms,
): Promise<void> {
  const { counterpart } = attribute
  if (!counterpart) throw new TypeError(`${attribute.name} is an inverse of nothing`)
  const changes = noChanges()
  const link = terms.storage.link(attribute.target, counterpart.name)
  const inverse: Inverse = { attribute, owner: attribute.target, links, terms }
  if (link.kind === 'column') await planInverseColumn(inverse, link, changes)
  else await planInverseTable(inverse, link, changes)
  await applyChanges(changes, terms)
}
