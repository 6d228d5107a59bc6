import type { Attribute, ContentType } from '../../model/model.ts'
import type { VisibleVersion } from '../../query/command.ts'
import { type Filter, STATUSES, type Status } from '../../query/query.ts'
import type { Caller, ReadAccess } from '../caller.ts'
import { rowCondition } from './read-scope.ts'

/** The documents that a relation may link to; null: all of them. Drafts are hidden from callers who may not read them (reference/safety.md#s11-drafts). */
export function linkableDocuments(target: ContentType, caller: Caller): readonly VisibleVersion[] | null {
  const view = caller.grants.readAccess(target, 'find')
  return view ? visibleIn(target, [view], caller) : []
}

/**
 * The files that a new media link may name; null: all of them. Without any permission to find files, media are open:
 * a condition on `find` or `findOne` is what hides files (reference/rest.md#17-differences-from-strapi).
 */
export function linkableFiles(file: ContentType, caller: Caller): readonly VisibleVersion[] | null {
  const views = readAccessesOf(file, caller)
  return views.length === 0 ? null : visibleIn(file, views, caller)
}

/**
 * The documents of a type that the caller sees by any permission; null: all of them. Empty: the caller has no permission
 * to read the type, so nothing is visible, but nothing is hidden by a condition either.
 */
export function visibleDocuments(type: ContentType, caller: Caller): readonly VisibleVersion[] | null {
  const own = ownRecord(type, caller)
  const views = readAccessesOf(type, caller)
  const sights = views.length === 0 ? [] : visibleIn(type, views, caller)
  return sights === null || own === null ? sights : [...sights, own]
}

/** The attributes that the caller reads by any permission. */
export const shownAttributes = (type: ContentType, caller: Caller): ReadonlySet<Attribute> =>
  new Set(readAccessesOf(type, caller).flatMap(({ readable }) => [...readable]))

const readAccessesOf = (type: ContentType, { grants }: Caller): readonly ReadAccess[] => {
  const actions = type.kind === 'single' ? (['find'] as const) : (['find', 'findOne'] as const)
  return actions.map(action => grants.readAccess(type, action)).filter(view => view !== null)
}

/** `me` shows users their own record. */
function ownRecord(type: ContentType, { grants, user }: Caller): VisibleVersion | null {
  const id = type.attributes.get('id')
  if (!type.builtIn || type.key !== 'user' || id?.kind !== 'scalar') return null
  if (typeof user?.id !== 'number' || !grants.readAccess(type, 'me')) return null
  const where: Filter = { kind: 'comparison', attribute: id, operator: '$eq', values: [user.id] }
  return { status: 'published', where }
}

/** The versions that any of the permissions shows, for each status. */
function visibleIn(
  type: ContentType,
  views: readonly ReadAccess[],
  caller: Caller,
): readonly VisibleVersion[] | null {
  const statuses: readonly Status[] = type.draftAndPublish ? STATUSES : ['published']
  const sights = statuses.flatMap((status): readonly VisibleVersion[] => {
    const showing = views.filter(({ drafts }) => status === 'published' || drafts !== null)
    if (showing.length === 0) return []
    return [{ status, where: anyOf(showing.map(view => rowCondition(view, type, status, { caller }))) }]
  })
  const everywhere: Status = type.draftAndPublish ? 'draft' : 'published'
  return sights.some(({ status, where }) => status === everywhere && where === null) ? null : sights
}

/** The disjunction; null: one of the conditions holds for every row. */
function anyOf(conditions: readonly (Filter | null)[]): Filter | null {
  const [first, ...others] = conditions
  if (others.length === 0) return first ?? null
  const filters = conditions.filter(condition => condition !== null)
  return filters.length < conditions.length ? null : { kind: 'or', filters }
}
