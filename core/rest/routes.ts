import type { Action } from '../access/actions.ts'
import { failed, ok, type Result } from '../base/result.ts'
import { type Fault, fault } from '../faults/fault.ts'
import { apiIdOf, type ContentType, type Model } from '../model/model.ts'
import type { StatusChange } from '../query/command.ts'

/** A path of the content API (reference/rest.md#1-envelope-and-status-codes, reference/rest.md#12-single-types). `documentId` is set for the path of a document. */
export interface Route {
  readonly kind: RouteKind
  readonly type: ContentType
  readonly documentId: string | null
  /** What `/actions/…/unpublish` and `/actions/…/discard-draft` do. */
  readonly change?: StatusChange
}

/** `nested`: a path below a type's that leads nowhere; it still answers `Allow` (reference/rest.md#10-drafts, reference/rest.md#12-single-types). */
type RouteKind = 'collection' | 'document' | 'single' | 'change' | 'localization' | 'nested'

/** The action of each method on each kind of path. */
export const ROUTE_ACTIONS: Readonly<Record<RouteKind, Readonly<Record<string, Action>>>> = {
  collection: { GET: 'find', HEAD: 'find', POST: 'create' },
  document: { GET: 'findOne', HEAD: 'findOne', PUT: 'update', DELETE: 'delete' },
  single: { GET: 'find', HEAD: 'find', PUT: 'update', DELETE: 'delete' },
  change: { POST: 'publish' },
  localization: { POST: 'createLocalization' },
  nested: {},
}

/** The value of `Allow` (reference/rest.md#1-envelope-and-status-codes), in Strapi's order. */
export const ALLOWED_METHODS: Readonly<Record<RouteKind, string>> = {
  collection: 'HEAD, GET, POST',
  document: 'HEAD, GET, PUT, DELETE',
  single: 'HEAD, GET, PUT, DELETE',
  change: 'POST',
  localization: 'POST',
  nested: 'HEAD, GET',
}

/** Finds the route of a path; null: the path does not belong to the content API. */
type FindRoute = (path: string) => Result<Route, Fault> | null

/** Routes of a model's content-types. Paths are case-insensitive and may end with one slash. */
export function compileRoutes(model: Model, prefix: string): FindRoute {
  const types = new Map<string, ContentType>()
  for (const type of model.contentTypes.values()) {
    if (!type.builtIn) types.set(apiIdOf(type), type)
  }
  const start = `${prefix}/`.toLowerCase()
  return path => {
    if (path.slice(0, start.length).toLowerCase() !== start) return null
    return findRoute(path.slice(start.length), types)
  }
}

function findRoute(rest: string, types: ReadonlyMap<string, ContentType>): Result<Route, Fault> | null {
  const words = (rest.endsWith('/') ? rest.slice(0, -1) : rest).split('/')
  const [name = '', documentId] = words
  const change = name.toLowerCase() === ACTIONS ? changeRoute(words.slice(1), types) : null
  if (change) return change
  const type = types.get(name.toLowerCase())
  if (!type) return null
  if (documentId === undefined) return ok({ kind: type.kind, type, documentId: null })
  const isLocalization = type.localized && words[type.kind === 'single' ? 1 : 2] === LOCALIZATIONS
  if (words.length > (isLocalization ? 3 : 2)) return nestedRoute(type)
  if (type.kind === 'single')
    return isLocalization ? ok({ kind: 'localization', type, documentId: null }) : nestedRoute(type)
  if (documentId === '') return nestedRoute(type)
  const decoded = decode(documentId)
  return decoded === null
    ? failed(fault('badRequest', 'failed to decode'))
    : ok({ kind: isLocalization ? 'localization' : 'document', type, documentId: decoded })
}

/** `articles/<id>/localizations` and `homepage/localizations` of Strapi 4 create a locale of a document. */
const LOCALIZATIONS = 'localizations'

/** `articles/<documentId>/unpublish`, `homepage/unpublish`, and the same with `discard-draft`; null: no such path. */
function changeRoute(
  words: readonly string[],
  types: ReadonlyMap<string, ContentType>,
): Result<Route, Fault> | null {
  const type = types.get(words[0]?.toLowerCase() ?? '')
  if (!type?.draftAndPublish) return null
  const single = type.kind === 'single'
  const [name = '', ...others] = words.slice(single ? 1 : 2)
  const change = CHANGES.get(name)
  if (!change || others.length > 0) return null
  const documentId = single ? null : decode(words[1] ?? '')
  return documentId === '' || (documentId === null && !single)
    ? null
    : ok({ kind: 'change', type, documentId, change })
}

/**
 * The first part of the paths that change the status of a document; they are longer than the paths of a type with this name.
 * Below the document's own path Strapi refuses each of them (reference/rest.md#10-drafts).
 */
const ACTIONS = 'actions'

const CHANGES: ReadonlyMap<string, StatusChange> = new Map([
  ['unpublish', 'unpublish'],
  ['discard-draft', 'discardDraft'],
])

const nestedRoute = (type: ContentType) => ok<Route>({ kind: 'nested', type, documentId: null })

function decode(word: string): string | null {
  if (!word.includes('%')) return word
  try {
    return decodeURIComponent(word)
  } catch (reason) {
    if (reason instanceof URIError) return null
    throw reason
  }
}
