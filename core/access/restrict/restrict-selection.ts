import type {
  ComponentPopulate,
  LinkPopulate,
  Populate,
  Selection,
  ZonePart,
  ZonePopulate,
} from '../../query/query.ts'
import type { ReadAccess } from '../caller.ts'
import {
  enterComponent,
  enterLink,
  mapOrDrop,
  type ReadScope,
  type Restriction,
  refuseAttribute,
  refuseUnknown,
  requireReadable,
} from './read-scope.ts'
import { readableAttributes } from './readable-attributes.ts'
import { restrictFilter, restrictSort } from './restrict-filter.ts'

/**
 * `at.param` is the parameter of the fields; for populates it is always `populate`. Fields that the request names must
 * be readable. Unreadable fields of the default selection are dropped.
 */
export function restrictSelection(selection: Selection, at: ReadScope, restriction: Restriction): Selection {
  const fields = selection.named
    ? mapOrDrop(selection.fields, field =>
        selection.internalFields?.has(field) || requireReadable(field, at, restriction) ? field : null,
      )
    : mapOrDrop(selection.fields, field => (at.readable.has(field) ? field : null))
  const inside: ReadScope = at.param === 'populate' ? at : { ...at, param: 'populate' }
  const populate = mapOrDrop(selection.populate, part => restrictPopulate(part, inside, restriction))
  if (fields === selection.fields && populate === selection.populate) return selection
  return { ...selection, fields, populate }
}

/** null: left out of the answer. */
function restrictPopulate(populate: Populate, at: ReadScope, restriction: Restriction): Populate | null {
  if (!at.readable.has(populate.attribute)) {
    if (populate.origin !== 'all') refuseAttribute(populate.attribute, at, restriction)
    return null
  }
  switch (populate.kind) {
    case 'link':
      return restrictLink(populate, at, restriction)
    case 'component':
      return restrictRows(populate, inside(populate, enterComponent(populate.attribute, at).to), restriction)
    case 'zone':
      return restrictZone(populate, at, restriction)
    default:
      return refuseUnknown(populate, restriction)
  }
}

/** Without `find` on the target the populate is dropped silently (reference/rest.md#8-populate). */
function restrictLink(populate: LinkPopulate, at: ReadScope, restriction: Restriction): LinkPopulate | null {
  const next = enterLink(
    populate.attribute,
    at,
    throughOpenedRelation(populate, restriction),
    populate.status,
  )
  if (!next) return null
  const kept = restrictRows(populate, inside(populate, next.to), restriction)
  return kept === null || kept.scope === next.scope ? kept : { ...kept, scope: next.scope }
}

function restrictRows<Rows extends LinkPopulate | ComponentPopulate>(
  populate: Rows,
  at: ReadScope,
  restriction: Restriction,
): Rows | null {
  const own = { ...at, path: '' }
  const filter = populate.filter && restrictFilter(populate.filter, own, restriction)
  const sort = mapOrDrop(populate.sort, part => restrictSort(part, own, restriction))
  const selection = restrictSelection(populate.selection, at, restriction)
  if (populate.origin === 'passed' && selection.populate.length === 0) return null
  const same = filter === populate.filter && sort === populate.sort && selection === populate.selection
  return same ? populate : { ...populate, filter, sort, selection }
}

/** The zone is kept even if nothing inside is readable: its entries are part of the document. */
function restrictZone(populate: ZonePopulate, at: ReadScope, restriction: Restriction): ZonePopulate {
  const path = `${at.path}${populate.attribute.name}.`
  const components = mapOrDrop(populate.components, part => {
    const there = inside(populate, { ...at, path, readable: readableAttributes(part.component) })
    return restrictPart(part, there, restriction)
  })
  return components === populate.components ? populate : { ...populate, components }
}

function restrictPart(part: ZonePart, at: ReadScope, restriction: Restriction): ZonePart {
  const filter = part.filter && restrictFilter(part.filter, { ...at, path: '' }, restriction)
  const selection = restrictSelection(part.selection, at, restriction)
  if (selection === part.selection && filter === part.filter) return part
  return { ...part, selection, ...(filter && { filter }) }
}

/** Faults report paths from the innermost populate on; a dotted populate (`a.b`) keeps its full path (reference/rest.md#2-errors). */
const inside = ({ origin: asked }: Populate, to: ReadScope): ReadScope =>
  asked === 'passed' ? to : { ...to, path: '' }

/**
 * The restriction for one link: if the project opened the link to the caller, its target is readable. Drafts of the
 * target stay hidden from a caller who may not read them.
 */
function throughOpenedRelation(
  { bypassFind: opened, attribute: { target } }: LinkPopulate,
  restriction: Restriction,
): Restriction {
  if (!opened) return restriction
  const { caller } = restriction
  const own = caller.grants.readAccess(target, 'find')
  const view: ReadAccess =
    opened === 'kept' && own
      ? own
      : { readable: readableAttributes(target), where: null, drafts: own?.drafts ?? null }
  return { ...restriction, caller: { ...caller, grants: { ...caller.grants, readAccess: () => view } } }
}
