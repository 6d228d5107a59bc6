import { trusted } from '../../access/brand.ts'
import { normalizeText } from '../../base/text.ts'
import type { ContentType, Holder, ScalarAttribute } from '../../model/model.ts'
import type { Populate, Query, RestrictedQuery, Selection } from '../../query/query.ts'

/** One query by id for all values of a user that sessions, plugins and conditions need. */
export function userQuery(
  user: ContentType,
  paths: readonly (readonly string[])[],
): (id: number) => RestrictedQuery {
  const selection = selectPaths(user, [...SESSION_PATHS, ...paths])
  const attribute = requireScalar(user, 'id')
  return id =>
    trusted({
      ...ALL_ROWS,
      type: user,
      take: { kind: 'many', page: { start: 0, limit: 1 }, total: false },
      selection,
      filter: { kind: 'comparison', attribute, operator: '$eq', values: [id] },
    })
}

const SESSION_PATHS = [
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
  ['keptSession'],
  ['role', 'type'],
] as const

/** Common part of queries for built-in types, which have neither drafts nor locales. */
export const ALL_ROWS = {
  kind: 'query',
  status: 'published',
  locale: { kind: 'all' },
  filter: null,
  search: null,
  publication: null,
  sort: [],
} as const satisfies Partial<Query>

/** Throws a TypeError for an unknown name: paths are checked when the project is loaded. */
export function requireScalar(holder: Holder, name: string): ScalarAttribute {
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
  if (!attribute || attribute.kind === 'scalar' || attribute.kind === 'zone' || attribute.kind === 'morph')
    return []
  const base = { as: name, origin: 'passed', count: false, filter: null, sort: [], page: null } as const
  if (attribute.kind === 'component')
    return [{ ...base, kind: 'component', attribute, selection: selectPaths(attribute.component, paths) }]
  return [{ ...base, kind: 'link', attribute, scope: null, selection: selectPaths(attribute.target, paths) }]
}

/**
 * Normalises a username: trimmed, and in Unicode's NFKC form, so that names that differ only by compatibility characters
 * (`ａｎｎ`, `ann`) cannot belong to two users.
 */
export const toUsername = (text: string): string => normalizeText(text, 'NFKC').trim()

/** Normalises `username` in a body or in values. Other types than strings are refused later. */
export const withUsername = <Given extends Readonly<Record<string, unknown>>>(input: Given): Given =>
  typeof input.username === 'string' ? { ...input, username: toUsername(input.username) } : input
