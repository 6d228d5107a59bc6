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
import { restrictFilter, restrictSort } from './restrict-filter.ts'
import { readableAttributes } from './visible.ts'

/**
 * `at.param` is that of the fields: populates are always `populate`. Fields that the request named must be
 * readable; of those that it gets by default the unreadable ones are left out.
 */
export function restrictSelection(selection: Selection, at: ReadScope, walk: Restriction): Selection {
  const fields = selection.named
    ? mapOrDrop(selection.fields, field =>
        selection.internalFields?.has(field) || requireReadable(field, at, walk) ? field : null,
      )
    : mapOrDrop(selection.fields, field => (at.readable.has(field) ? field : null))
  const inside: ReadScope = at.param === 'populate' ? at : { ...at, param: 'populate' }
  const populate = mapOrDrop(selection.populate, part => restrictPopulate(part, inside, walk))
  if (fields === selection.fields && populate === selection.populate) return selection
  return { ...selection, fields, populate }
}

/** null: left out of the answer. */
function restrictPopulate(populate: Populate, at: ReadScope, walk: Restriction): Populate | null {
  if (!at.readable.has(populate.attribute)) {
    if (populate.origin !== 'all') refuseAttribute(populate.attribute, at, walk)
    return null
  }
  switch (populate.kind) {
    case 'link':
      return restrictLink(populate, at, walk)
    case 'component':
      return restrictRows(populate, inside(populate, enterComponent(populate.attribute, at).to), walk)
    case 'zone':
      return restrictZone(populate, at, walk)
    default:
      return refuseUnknown(populate, walk)
  }
}

/** No `find` on the target: silently left out, whatever was asked of it (contract/rest.md 8). */
function restrictLink(populate: LinkPopulate, at: ReadScope, walk: Restriction): LinkPopulate | null {
  const next = enterLink(populate.attribute, at, throughOpenedRelation(populate, walk), populate.status)
  if (!next) return null
  const kept = restrictRows(populate, inside(populate, next.to), walk)
  return kept === null || kept.scope === next.scope ? kept : { ...kept, scope: next.scope }
}

function restrictRows<Rows extends LinkPopulate | ComponentPopulate>(
  populate: Rows,
  at: ReadScope,
  walk: Restriction,
): Rows | null {
  const own = { ...at, path: '' }
  const filter = populate.filter && restrictFilter(populate.filter, own, walk)
  const sort = mapOrDrop(populate.sort, part => restrictSort(part, own, walk))
  const selection = restrictSelection(populate.selection, at, walk)
  if (populate.origin === 'passed' && selection.populate.length === 0) return null
  const same = filter === populate.filter && sort === populate.sort && selection === populate.selection
  return same ? populate : { ...populate, filter, sort, selection }
}

/** On the way to what is not for the caller, its entries are answered all the same. */
function restrictZone(populate: ZonePopulate, at: ReadScope, walk: Restriction): ZonePopulate {
  const path = `${at.path}${populate.attribute.name}.`
  const components = mapOrDrop(populate.components, part => {
    const there = inside(populate, { ...at, path, readable: readableAttributes(part.component) })
    return restrictPart(part, there, walk)
  })
  return components === populate.components ? populate : { ...populate, components }
}

function restrictPart(part: ZonePart, at: ReadScope, walk: Restriction): ZonePart {
  const filter = part.filter && restrictFilter(part.filter, { ...at, path: '' }, walk)
  const selection = restrictSelection(part.selection, at, walk)
  if (selection === part.selection && filter === part.filter) return part
  return { ...part, selection, ...(filter && { filter }) }
}

/** Places are told from the innermost populate on, but dotted ones (`a.b`) as they were written (contract/rest.md 2). */
const inside = ({ origin: asked }: Populate, to: ReadScope): ReadScope =>
  asked === 'passed' ? to : { ...to, path: '' }

/**
 * The walk over one link as the caller makes it: where the project opened the link to the caller, its target is
 * visible. Drafts of it stay hidden from a caller who may not read them.
 */
function throughOpenedRelation(
  { bypassFind: opened, attribute: { target } }: LinkPopulate,
  walk: Restriction,
): Restriction {
  if (!opened) return walk
  const { caller } = walk
  const own = caller.grants.readAccess(target, 'find')
  const view: ReadAccess =
    opened === 'kept' && own
      ? own
      : { readable: readableAttributes(target), where: null, drafts: own?.drafts ?? null }
  return { ...walk, caller: { ...caller, grants: { ...caller.grants, readAccess: () => view } } }
}
