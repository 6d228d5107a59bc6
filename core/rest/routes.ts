import type { Action } from '../access/actions.ts'
import { failed, ok, type Result } from '../base/result.ts'
import { type Fault, fault } from '../faults/fault.ts'
import type { ContentType, Model } from '../model/model.ts'

/** A path of the content API (spec 4.1 and 4.2). `documentId`: of a document's path alone. */
export interface Route {
  readonly kind: RouteKind
  readonly type: ContentType
  readonly documentId: string | null
}

/** `beneath`: a path under a type's where nothing is, which still has its methods (contract/rest.md 10, 12). */
export type RouteKind = 'collection' | 'document' | 'single' | 'beneath'

/** What each method does on each kind of path, and so which methods there are. */
export const ACTIONS: Readonly<Record<RouteKind, Readonly<Record<string, Action>>>> = {
  collection: { GET: 'find', HEAD: 'find', POST: 'create' },
  document: { GET: 'findOne', HEAD: 'findOne', PUT: 'update', DELETE: 'delete' },
  single: { GET: 'find', HEAD: 'find', PUT: 'update', DELETE: 'delete' },
  beneath: {},
}

/** contract/rest.md 1, in the reference's order. */
export const ALLOW: Readonly<Record<RouteKind, string>> = {
  collection: 'HEAD, GET, POST',
  document: 'HEAD, GET, PUT, DELETE',
  single: 'HEAD, GET, PUT, DELETE',
  beneath: 'HEAD, GET',
}

/** null: no path of the content API. */
export type FindRoute = (path: string) => Result<Route, Fault> | null

/** The paths of a model's content-types, found by their words: capitals and one slash at the end do not matter. */
export function compileRoutes(model: Model, prefix: string): FindRoute {
  const types = new Map<string, ContentType>()
  for (const type of model.contentTypes.values()) {
    if (!type.builtIn) types.set(type.kind === 'single' ? type.key : type.pluralApiId, type)
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
  const type = types.get(name.toLowerCase())
  if (!type) return null
  if (words.length > 2) return beneath(type)
  if (documentId === undefined) return ok({ kind: type.kind, type, documentId: null })
  if (type.kind === 'single' || documentId === '') return beneath(type)
  const decoded = decode(documentId)
  return decoded === null
    ? failed(fault('badRequest', 'failed to decode'))
    : ok({ kind: 'document', type, documentId: decoded })
}

const beneath = (type: ContentType) => ok<Route>({ kind: 'beneath', type, documentId: null })

function decode(word: string): string | null {
  if (!word.includes('%')) return word
  try {
    return decodeURIComponent(word)
  } catch (reason) {
    if (reason instanceof URIError) return null
    throw reason
  }
}
