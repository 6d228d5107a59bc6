import { propertyKey } from './literal-expression.ts'
import {
  isCode,
  isLiteralList,
  isMapping,
  type LiteralMapping,
  type LiteralValue,
  mappingAt,
  textAt,
  UNKNOWN_KEYS,
  valueAt,
} from './literal-value.ts'
import {
  bindingOf,
  exportOf,
  importedFiles,
  moduleScope,
  type ScopedModule,
  type ScriptLoader,
} from './module-scope.ts'
import {
  type CallExpressionNode,
  callsIn,
  isFunction,
  memberPath,
  type PropertyNode,
  propertyName,
  type StatementNode,
  unwrapExpression,
  type ValueNode,
} from './parse-module.ts'
import { evaluateLiteral, readExported } from './read-exported.ts'
import type { OwnCode, StrapiProject, StrapiRouter, StrapiType } from './strapi-project.ts'

const CODE = /\.(?:[cm]?[jt]s)$/
/** Files that are no part of the running project. */
const UNUSED = /\.d\.ts$|\.(?:test|spec)\.[cm]?[jt]s$|\/__tests__\//

const KINDS: readonly (readonly [RegExp, OwnCode['kind']])[] = [
  [/^src\/api\/([^/]+)\/controllers\//, 'controller'],
  [/^src\/api\/([^/]+)\/services\//, 'service'],
  [/^src\/api\/([^/]+)\/routes\//, 'route'],
  [/^src\/(?:api\/([^/]+)\/)?policies\//, 'policy'],
  [/^src\/(?:api\/([^/]+)\/)?middlewares\//, 'middleware'],
  [/^src\/api\/([^/]+)\/content-types\/[^/]+\/lifecycles\./, 'lifecycle'],
  [/^src\/(?:api\/([^/]+)\/)?index\./, 'index'],
  [/^src\/extensions\/.*strapi-(?:server|admin)\./, 'extension'],
  [/^src\/plugins\/[^/]+\/(?:strapi-server|server\/(?:src\/)?index)\./, 'plugin'],
  [/^config\/cron-tasks\./, 'cron'],
]

/** Code of any language: changes of packages, of patch-package, pnpm and yarn, and of tables. */
const UNPARSED: readonly (readonly [RegExp, OwnCode['kind']])[] = [
  [/^(?:patches|\.yarn\/patches)\/.+\.patch$/, 'patch'],
  [/^database\/migrations\/[^/]+\.(?:js|ts|sql)$/, 'migration'],
]

/** Modules of config/ whose settings Strapi itself reads, or that have a line of their own. */
const SETTINGS =
  /^config\/(?:env\/[^/]+\/)?(?:admin|api|cron-tasks|database|features|middlewares|plugins|server|typescript)\./
const CONFIG = /^(?:config\/|config\/env\/production\/|src\/api\/[^/]+\/config\/)[^/]+\.(?:[cm]?[jt]s|json)$/

/** Modules of config/ that only code of the project reads, by `strapi.config.get`. Those that settings import are read with them. */
function ownConfigs(load: ScriptLoader, files: readonly string[]): readonly OwnCode[] {
  const used = new Set(files.filter(file => SETTINGS.test(file)))
  for (const file of used) {
    const module = tryLoad(load, file)
    for (const imported of module ? importedFiles(module) : []) used.add(imported)
  }
  return files
    .filter(file => CONFIG.test(file) && !UNUSED.test(file) && !used.has(file))
    .map(file => ({ kind: 'config', file }))
}

/** Finds the project's custom code and its configured routers. Files as Strapi's generator writes them do not count. */
export function findOwnCode(
  load: ScriptLoader,
  files: readonly string[],
  types: readonly StrapiType[] = [],
): Pick<StrapiProject, 'ownCode' | 'routers'> {
  const found: FoundCode = {
    ownCode: [...ownConfigs(load, files)],
    routers: [],
    listed: [],
    unlisted: new Set(),
  }
  for (const file of files) {
    const [, unparsed] = UNPARSED.find(([pattern]) => pattern.test(file)) ?? []
    if (unparsed !== undefined) found.ownCode.push({ kind: unparsed, file })
    const code = CODE.test(file) && !UNUSED.test(file) ? toOwnCode(file) : undefined
    if (code !== undefined) addCode(found, code, { module: tryLoad(load, file), types })
  }
  for (const each of found.listed) addListed(found, each)
  const unserved = unservedTypes(load, files, types).map(({ uid }) => ({ uid, options: NO_ROUTES }))
  return { ownCode: found.ownCode, routers: [...found.routers, ...unserved] }
}

/** Folders of plugins whose only code is that of the admin panel. The server may be built code, which is not read; its entry point is. */
export function findPanelPlugins(files: readonly string[]): readonly string[] {
  const folders = new Set(files.flatMap(file => PANEL.exec(file)?.[1] ?? []))
  const isServed = (folder: string) => (file: string) =>
    file.startsWith(folder) && SERVED.test(file.slice(folder.length))
  return [...folders].filter(folder => !files.some(isServed(folder)))
}

const PANEL = /^((?:[^/]+\/)+?)(?:strapi-admin\.[cm]?[jt]s$|admin\/)/
const SERVED = /^(?!admin\/|strapi-admin\.).*(?:\.[cm]?[jt]s$|\bcontent-types\/)/

const NO_ROUTES: LiteralMapping = new Map([['only', []]])
const ROUTES = /^src\/api\/([^/]+)\/routes\//

/**
 * Content-types without generated routes. Strapi has permissions only for those with a controller: without one, the folder is not the
 * whole project.
 */
function unservedTypes(
  load: ScriptLoader,
  files: readonly string[],
  types: readonly StrapiType[],
): readonly StrapiType[] {
  const code = files.filter(file => CODE.test(file) && !UNUSED.test(file))
  const served = code.flatMap(file => servedTypes(file, load, types))
  return types.filter(type => code.some(file => isControllerOf(type, file)) && !served.includes(type))
}

/** `src/api/blog/content-types/post/schema.json`, `src/api/blog/controllers/post.ts` */
function isControllerOf({ uid, file }: StrapiType, path: string): boolean {
  const [, api = '', name = ''] = /^(src\/api\/[^/]+\/)content-types\/([^/]+)\//.exec(file) ?? []
  return uid.startsWith('api::') && path.startsWith(`${api}controllers/${name}.`)
}

/** The content-types that a file may serve if it has routes: all of its API if its code decides. */
function servedTypes(file: string, load: ScriptLoader, types: readonly StrapiType[]): readonly StrapiType[] {
  const [, api] = ROUTES.exec(file) ?? []
  if (api === undefined) return []
  const own = types.filter(type => type.api === api)
  const module = tryLoad(load, file)
  if (module === undefined) return own
  const calls = callsIn(module).filter(each => factoryOf(each) === 'Router')
  const uids = calls.map(({ arguments: [uid] }) => (uid ? evaluateLiteral(uid, module) : null))
  if (calls.length > 0)
    return types.filter(type => uids.includes(type.uid) || (own.includes(type) && uids.some(isCode)))
  const exported = readExported(module)
  const routes = valueAt(exported, 'routes')
  if (!isLiteralList(routes) || !routes.every(isMapping)) return own
  return own.filter(type => declaredRoutes(exported, [type]) !== undefined)
}

interface FoundCode {
  readonly ownCode: OwnCode[]
  readonly routers: StrapiRouter[]
  readonly listed: ListedRoutes[]
  /** APIs with other files of routes, such as `createCoreRouter`: their lists are not complete. */
  readonly unlisted: Set<string | undefined>
}

interface CodeContext {
  /** undefined: the file cannot be parsed. */
  readonly module: ScopedModule | undefined
  readonly types: readonly StrapiType[]
}

function addCode(found: FoundCode, code: OwnCode, { module, types }: CodeContext): void {
  const exported = code.kind === 'route' && module ? readExported(module) : undefined
  if (code.kind === 'route' && !isLiteralList(valueAt(exported, 'routes'))) found.unlisted.add(code.api)
  const router = exported !== undefined && module ? readRouter(module) : undefined
  const routes = router ? undefined : declaredRoutes(exported, typesOf(code, types))
  if (router) found.routers.push(router)
  if (routes) found.listed.push({ code, routes })
  else if (!module || !(router ? isRouterAlone(module, router) : isGenerated(module)))
    found.ownCode.push(code)
}

/** A list in addition to another router, or another list, adds routes to it, or replaces some: that is custom code. */
function addListed({ ownCode, routers, listed, unlisted }: FoundCode, { code, routes }: ListedRoutes): void {
  const isOnly =
    !unlisted.has(code.api) && listed.every(each => each.routes === routes || each.routes.uid !== routes.uid)
  if (isOnly) routers.push({ uid: routes.uid, options: routes.options })
  if (!isOnly || !routes.alone || hasUnknownRoute(routes.options)) ownCode.push(code)
}

/** A file that lists routes one by one. */
interface ListedRoutes {
  readonly code: OwnCode
  readonly routes: DeclaredRoutes
}

const typesOf = ({ api }: OwnCode, types: readonly StrapiType[]): readonly StrapiType[] =>
  types.filter(type => type.uid.startsWith('api::') && type.api === api)

/** The routes of a file that lists them one by one, as projects that come from Strapi 3 do. */
interface DeclaredRoutes extends StrapiRouter {
  /** True if the file has no other route. */
  readonly alone: boolean
}

const FILE_KEYS: ReadonlySet<string> = new Set(['type', 'name', 'routes'])
const ROUTE_KEYS: ReadonlySet<string> = new Set(['method', 'path', 'handler', 'config', 'info'])

/** Finds the generated routes of one content-type in `{ routes: [{ method, path, handler }] }`; undefined: there are none. */
function declaredRoutes(
  exported: LiteralValue | undefined,
  types: readonly StrapiType[],
): DeclaredRoutes | undefined {
  const routes = valueAt(exported, 'routes')
  if (!isMapping(exported) || !isLiteralList(routes) || textAt(exported, 'type') === 'admin') return undefined
  if ([...exported.keys()].some(key => !FILE_KEYS.has(key))) return undefined
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

const COLLECTION_ROUTES: readonly (readonly [method: string, path: string, action: string])[] = [
  ['GET', '', 'find'],
  ['GET', '/:', 'findOne'],
  ['POST', '', 'create'],
  ['PUT', '/:', 'update'],
  ['DELETE', '/:', 'delete'],
]
const SINGLE_ROUTES: typeof COLLECTION_ROUTES = [
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
    (isSingle(type) ? SINGLE_ROUTES : COLLECTION_ROUTES).find(
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

/** undefined: the file cannot be parsed, so it counts as custom code, which the report lists. */
function tryLoad(load: ScriptLoader, file: string): ScopedModule | undefined {
  try {
    return load(file)
  } catch (error) {
    if (error instanceof SyntaxError) return undefined
    throw error
  }
}

function toOwnCode(file: string): OwnCode | undefined {
  for (const [pattern, kind] of KINDS) {
    const match = pattern.exec(file)
    if (match !== null) return { kind, file, ...(match[1] !== undefined && { api: match[1] }) }
  }
  return undefined
}

/** The last `createCoreRouter(uid, options)`; undefined if the module calls no `createCoreRouter` whose options can be evaluated. */
function readRouter(module: ScopedModule): StrapiRouter | undefined {
  const call = callsIn(module).findLast(each => factoryOf(each) === 'Router')
  const [named, options] = call?.arguments ?? []
  const uid = named && evaluateLiteral(named, module)
  if (typeof uid !== 'string' || options === undefined) return undefined
  const value = evaluateLiteral(options, module)
  return isMapping(value) ? { uid, options: value } : undefined
}

/** True if a file exports a router that is known completely, and adds no routes of its own to it. */
function isRouterAlone(module: ScopedModule, { options }: StrapiRouter): boolean {
  const exported = exportOf(module, 'default')
  return (
    exported?.kind === 'node' &&
    isRouter(exported.node, module) &&
    module.body.every(each => each.type !== 'ExpressionStatement' || isExport(each)) &&
    !hasUnknownRoute(options)
  )
}

/** `createCoreRouter('api::a.a')`, or a name of it. */
function isRouter(node: ValueNode, module: ScopedModule): boolean {
  const inner = unwrapExpression(node)
  const named = inner.type === 'Identifier' ? bindingOf(inner.name, moduleScope(module)) : undefined
  const value = named?.kind === 'node' ? unwrapExpression(named.node) : inner
  return value.type === 'CallExpression' && factoryOf(value) === 'Router'
}

/** `module.exports = …`, or a text such as `('use strict')`. */
const isExport = ({ expression }: Extract<StatementNode, { type: 'ExpressionStatement' }>): boolean =>
  expression.type === 'AssignmentExpression'
    ? memberPath(expression.left) === 'module.exports'
    : unwrapExpression(expression).type === 'StringLiteral'

/** True if code decides which routes are configured, or how: `config: routesOf(…)`. */
function hasUnknownRoute(options: LiteralMapping): boolean {
  const config = valueAt(options, 'config')
  const parts = [options, config, ...mappingAt(config).values()]
  return parts.some(
    part => isCode(part) || (isMapping(part) && [...part].some(([key, value]) => isUnknown(key, value))),
  )
}

const isUnknown = (key: string, value: LiteralValue): boolean => key.startsWith(UNKNOWN_KEYS) || isCode(value)

/** `createCoreRouter`, `factories.createCoreRouter` and `require('@strapi/strapi').factories.createCoreRouter` → `Router`. */
function factoryOf({ callee }: CallExpressionNode): string | undefined {
  const name = callee.type === 'MemberExpression' ? propertyName(callee) : memberPath(callee)
  return /^createCore(Controller|Service|Router)$/.exec(name ?? '')?.[1]
}

/** True if the file is as Strapi generates it: empty, a factory call with a uid only, or empty life-cycle functions. */
function isGenerated(module: ScopedModule): boolean {
  if (module.body.length === 0) return true
  const exported = exportOf(module, 'default')
  if (exported?.kind !== 'node') return false
  const node = unwrapExpression(exported.node)
  if (node.type === 'CallExpression')
    return factoryOf(node) !== undefined && node.arguments.length === 1 && hasOnlyImports(module)
  return (
    node.type === 'ObjectExpression' && node.properties.length > 0 && node.properties.every(isEmptyLifecycle)
  )
}

/** Statements other than the export, which is one statement. */
const hasOnlyImports = ({ body }: ScopedModule): boolean => body.filter(each => !isImport(each)).length === 1

/** Imports, and types of TypeScript. */
const isImport = (statement: StatementNode): boolean =>
  statement.type === 'ImportDeclaration' ||
  statement.type === 'TSTypeAliasDeclaration' ||
  statement.type === 'TSInterfaceDeclaration' ||
  (statement.type === 'VariableDeclaration' &&
    statement.declarations.every(({ init }) => init !== null && init !== undefined && isRequire(init)))

/** `require('…')` and `require('…').factories` */
const isRequire = (node: ValueNode): boolean =>
  node.type === 'MemberExpression'
    ? isRequire(node.object)
    : node.type === 'CallExpression' && memberPath(node.callee) === 'require'

const LIFECYCLES: ReadonlySet<string | undefined> = new Set(['register', 'bootstrap', 'destroy'])

function isEmptyLifecycle(property: PropertyNode): boolean {
  if (property.type === 'SpreadElement' || property.computed || !LIFECYCLES.has(propertyKey(property)))
    return false
  const body = property.type === 'ObjectMethod' ? property.body : bodyOf(property.value)
  return body?.type === 'BlockStatement' && body.body.length === 0
}

const bodyOf = (node: ValueNode) => (isFunction(node) ? node.body : undefined)
