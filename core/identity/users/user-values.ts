import { trusted } from '../../access/brand.ts'
import type { ContentType, Holder, ScalarAttribute } from '../../model/model.ts'
import type { Populate, Query, RestrictedQuery, Selection } from '../../query/query.ts'

/** All that a session has to know of its user, plugins want to, and conditions ask of him, as one query by his id. */
export function userQuery(
  user: ContentType,
  paths: readonly (readonly string[])[],
): (id: number) => RestrictedQuery {
  const selection = selectPaths(user, [...OWN, ...paths])
  const attribute = scalarOf(user, 'id')
  return id =>
    trusted({
      ...ALL_ROWS,
      type: user,
      take: { kind: 'many', page: { start: 0, limit: 1 }, total: false },
      selection,
      filter: { kind: 'comparison', attribute, operator: '$eq', values: [id] },
    })
}

const OWN = [
  ['id'],
  ['documentId'],
  ['username'],
  ['email'],
  ['provider'],
  ['confirmed'],
  ['blocked'],
  ['createdAt'],
  ['updatedAt'],
  ['sessionVersion'],
  ['role', 'type'],
] as const

/** What queries for rows of built-in types have in common: they have neither drafts nor locales. */
export const ALL_ROWS = {
  kind: 'query',
  status: 'published',
  locale: { kind: 'all' },
  filter: null,
  search: null,
  publication: null,
  sort: [],
} as const satisfies Partial<Query>

/** Throws TypeError for a name that the model does not have: paths are checked at load. */
export function scalarOf(holder: Holder, name: string): ScalarAttribute {
  const attribute = holder.attributes.get(name)
  if (attribute?.kind !== 'scalar') throw new TypeError(`no scalar attribute ${name}`)
  return attribute
}

function selectPaths(holder: Holder, paths: readonly (readonly string[])[]): Selection {
  const below = new Map<string, string[][]>()
  for (const [first = '', ...rest] of paths) below.set(first, [...(below.get(first) ?? []), rest])
  const names = [...below.keys()]
  const fields = names.flatMap(name => {
    const attribute = holder.attributes.get(name)
    return attribute?.kind === 'scalar' ? [attribute] : []
  })
  const populate = names.flatMap(name => populatePath(holder, name, below.get(name) ?? []))
  return { fields, named: true, populate }
}

function populatePath(holder: Holder, name: string, paths: readonly string[][]): readonly Populate[] {
  const attribute = holder.attributes.get(name)
  if (!attribute || attribute.kind === 'scalar' || attribute.kind === 'zone') return []
  const base = { as: name, origin: 'passed', count: false, filter: null, sort: [], page: null } as const
  if (attribute.kind === 'component')
    return [{ ...base, kind: 'component', attribute, selection: selectPaths(attribute.component, paths) }]
  return [{ ...base, kind: 'link', attribute, scope: null, selection: selectPaths(attribute.target, paths) }]
}
