import {
  isLiteralList,
  isMapping,
  type LiteralMapping,
  type LiteralValue,
  textAt,
  valueAt,
} from './literal-value.ts'
import type { StrapiRouter, StrapiType } from './strapi-project.ts'

/** The routes of a file that lists them one by one, as projects that come from Strapi 3 do. */
export interface DeclaredRoutes extends StrapiRouter {
  /** True if the file has no other route. */
  readonly alone: boolean
}

const KEYS: ReadonlySet<string> = new Set(['type', 'name', 'routes'])
const ROUTE_KEYS: ReadonlySet<string> = new Set(['method', 'path', 'handler', 'config', 'info'])

/** Finds the generated routes of one content-type in `{ routes: [{ method, path, handler }] }`; undefined: there are none. */
export function declaredRoutes(
  exported: LiteralValue | undefined,
  types: readonly StrapiType[],
): DeclaredRoutes | undefined {
  const routes = valueAt(exported, 'routes')
  if (!isMapping(exported) || !isLiteralList(routes) || textAt(exported, 'type') === 'admin') return undefined
  if ([...exported.keys()].some(key => !KEYS.has(key))) return undefined
  for (const type of types) {
    const found = routes.flatMap(route => generatedRoute(route, type) ?? [])
    if (found.length > 0) return { ...toRouter(type, found), alone: found.length === routes.length }
  }
  return undefined
}

interface GeneratedRoute {
  readonly action: string
  readonly config: LiteralValue
}

const COLLECTION: readonly (readonly [method: string, path: string, action: string])[] = [
  ['GET', '', 'find'],
  ['GET', '/:', 'findOne'],
  ['POST', '', 'create'],
  ['PUT', '/:', 'update'],
  ['DELETE', '/:', 'delete'],
]
const SINGLE: typeof COLLECTION = [
  ['GET', '', 'find'],
  ['PUT', '', 'update'],
  ['DELETE', '', 'delete'],
]

const isSingle = ({ schema }: StrapiType): boolean => textAt(schema, 'kind') === 'singleType'

function generatedRoute(route: LiteralValue, type: StrapiType): GeneratedRoute | undefined {
  if (!isMapping(route) || [...route.keys()].some(key => !ROUTE_KEYS.has(key))) return undefined
  const [method, handler] = [textAt(route, 'method'), textAt(route, 'handler')]
  const base = `/${isSingle(type) ? type.singularName : type.pluralName}`
  // A path names its parameter as it likes: `:id`, `:documentId`.
  const path = textAt(route, 'path')?.replace(/\/:[^/:?*(]+$/, '/:')
  const [, , action] =
    (isSingle(type) ? SINGLE : COLLECTION).find(
      ([expected, end]) => method?.toUpperCase() === expected && path === base + end,
    ) ?? []
  const named = action !== undefined && [`${type.singularName}.${action}`, `${type.uid}.${action}`]
  return named && handler !== undefined && named.includes(handler)
    ? { action, config: valueAt(route, 'config') ?? null }
    : undefined
}

function toRouter(type: StrapiType, routes: readonly GeneratedRoute[]): StrapiRouter {
  // A single type has no other routes that the list could leave out.
  const only = [...routes.map(({ action }) => action), ...(isSingle(type) ? ['findOne', 'create'] : [])]
  const config: LiteralMapping = new Map(
    // The first of two equal routes answers.
    routes.toReversed().map(each => [each.action, each.config]),
  )
  const options = new Map<string, LiteralValue>([
    ['only', only],
    ['config', config],
  ])
  return { uid: type.uid, options }
}
