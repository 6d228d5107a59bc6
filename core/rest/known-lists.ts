import type { Caller, Grants } from '../access/caller.ts'
import { restrict } from '../access/restrict.ts'
import { BoundedMap } from '../base/bounded-map.ts'
import { ok, type Result } from '../base/result.ts'
import type { Fault } from '../faults/fault.ts'
import type { ContentType, Model } from '../model/model.ts'
import type { RestSettings } from '../project/settings.ts'
import type { RestrictedQuery } from '../query/query.ts'
import { type ListQuery, parseListQuery, type QueryTerms } from './parse-query.ts'
import { parseQueryString } from './parse-query-string.ts'

/** A list as a query string asks for it, and what of it each kind of caller sees. */
interface KnownList {
  readonly parsed: ListQuery
  readonly seen: WeakMap<Grants, Result<RestrictedQuery, Fault>>
}

/** A parsed query is some twenty times its text. */
const BOUNDS = { entries: 2000, characters: 8_000_000 } as const
const sizeOf = ({ length }: string): number => 2000 + 20 * length

type Lists = BoundedMap<KnownList & { readonly size: number }>

/** As long as their project is there. Its content-types are told apart by their uids. */
const known = new WeakMap<Model, WeakMap<RestSettings, Lists>>()

/** The list that a query string asks for: the same text is parsed once. What is refused is parsed each time. */
export function parseListText(type: ContentType, text: string, terms: QueryTerms): Result<KnownList, Fault> {
  const lists = listsOf(terms)
  const key = `${type.uid}?${text}`
  const before = lists.get(key)
  if (before) return ok(before)
  const parameters = parseQueryString(text)
  if (!parameters.ok) return parameters
  const parsed = parseListQuery(type, parameters.value, terms)
  if (!parsed.ok) return parsed
  const list = { parsed: parsed.value, seen: new WeakMap(), size: sizeOf(text) }
  lists.set(key, list)
  return ok(list)
}

/** Narrowed once for all who have the same grants; anew for users, whose own values conditions may speak of. */
export function seeList({ parsed, seen }: KnownList, caller: Caller): Result<RestrictedQuery, Fault> {
  if (caller.user !== null) return restrict(parsed.query, caller)
  const before = seen.get(caller.grants)
  if (before) return before
  const restricted = restrict(parsed.query, caller)
  seen.set(caller.grants, restricted)
  return restricted
}

function listsOf({ model, settings }: QueryTerms): Lists {
  const bySettings = known.get(model) ?? new WeakMap<RestSettings, Lists>()
  known.set(model, bySettings)
  const lists: Lists = bySettings.get(settings) ?? new BoundedMap(BOUNDS, ({ size }) => size)
  bySettings.set(settings, lists)
  return lists
}
