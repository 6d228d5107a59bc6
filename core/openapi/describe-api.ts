import type { Caller, Grants } from '../access/caller.ts'
import { isOnlyForUsers } from '../access/denial.ts'
import { PRODUCT_VERSION } from '../base/product.ts'
import { trimEndCharacter } from '../base/text.ts'
import { nullIfRefused } from '../faults/fault.ts'
import type { ContentType, Model } from '../model/model.ts'
import type { RegisteredPlugins } from '../plugins/register.ts'
import {
  compileAuthorize,
  type ExtensionRoute,
  type RouteAuthOptions,
  type RouterMount,
} from '../plugins/route-guard.ts'
import type { Settings } from '../project/settings/settings.ts'
import { generatedRouteName } from '../rest/route-claims.ts'
import type { BuiltInOptions } from './account-paths.ts'
import {
  arrayOf,
  closed,
  type DocumentFormat,
  documentSchema,
  type Schema,
  type SchemaContext,
  SchemaTable,
  schemaName,
} from './answer-schemas.ts'
import { builtInPaths } from './built-in-paths.ts'
import { consolePaths, describeForms } from './describe-console.ts'
import {
  contentTypePaths,
  type DescribeOptions,
  DOCUMENT_ID,
  errorResponses,
  headOf,
  jsonResponse,
  localeParameter,
  PartTable,
  type PathItem,
} from './operations.ts'
import { words } from './parameter-words.ts'
import { bodyProperties } from './request-schemas.ts'

/** What the description of an API is made from: the project, without its data. */
export interface DescribedProject extends RouteAuthOptions {
  readonly model: Model
  readonly settings: Settings
  readonly registered: Pick<RegisteredPlugins, 'routesConfig' | 'routes' | 'mounts' | 'binding'>
}

/** The OpenAPI document of what a caller may do, read, write and populate. It depends on grants only, not on data. */
export function describeApi(project: DescribedProject, caller: Caller, format: DocumentFormat): Schema {
  const { settings, model } = project
  const options: BuiltInOptions = {
    ...{ model, format, caller, project: settings, settings: settings.rest },
    strapi4: settings.rest.responseFormat === (format === 'v4' ? 'v4' : 'v4-flat'),
    table: new SchemaTable(),
    responses: new PartTable('responses'),
    parameters: new PartTable('parameters'),
    contextOf: () => null,
  }
  const described = { ...options, contextOf: contextsOf(project, caller, options) }
  const types = [...model.contentTypes.values()].filter(({ builtIn }) => !builtIn)
  const paths: Record<string, PathItem> = {}
  for (const type of types)
    addPaths(paths, {
      ...contentTypePaths(type, described),
      ...changePaths(type, described),
      ...localizationPaths(type, described),
    })
  addPaths(paths, builtInPaths(described))
  addPaths(paths, { '/openapi.json': ownPath(described), ...consolePaths(described) })
  const routing = { project, caller, described }
  for (const route of project.registered.routes) addRoute(paths, route, routing)
  for (const mount of project.registered.mounts) addMount(paths, mount, routing)
  return assemble(paths, { project, caller, options })
}

type ContextOf = DescribeOptions['contextOf']

/** Routes of `routesConfig` may be open to more callers, and show them more, than their permissions do. */
function contextsOf(
  project: DescribedProject,
  caller: Caller,
  { table, format }: DescribeOptions,
): ContextOf {
  const { routesConfig } = project.registered
  const keys = new Map<Grants, string>([[caller.grants, '']])
  return (subject, action) => {
    if (isOnlyForUsers(subject, action) && caller.kind !== 'user') return null
    const guarded = routesConfig.get(`${subject}.${action}`)
    const grants = guarded
      ? nullIfRefused(() => compileAuthorize(guarded.auth, guarded.own, project)(caller))?.grants
      : caller.grants
    if (!grants?.allows(subject, action)) return null
    const key = keys.get(grants) ?? `${subject}.${action}`
    return { table, grants, key, format } satisfies SchemaContext
  }
}

function addPaths(paths: Record<string, PathItem>, added: Readonly<Record<string, PathItem>>): void {
  for (const [path, item] of Object.entries(added))
    if (Object.keys(item).length > 0) paths[path] = { ...paths[path], ...item }
}

const ownPath = (options: DescribeOptions): PathItem => ({
  get: {
    ...{ operationId: 'openapi', summary: 'This description', tags: ['Description'] },
    responses: {
      200: jsonResponse('An OpenAPI document', { type: 'object' }),
      ...errorResponses('get', options),
    },
  },
})

interface RouteOptions {
  readonly described: DescribeOptions
  readonly project: DescribedProject
  readonly caller: Caller
}

/** A route of an extension: its code decides what it answers. One that replaces a generated route keeps its parameters. */
function addRoute(paths: Record<string, PathItem>, route: ExtensionRoute, options: RouteOptions): void {
  const method = route.method.toLowerCase()
  const path = route.path.replaceAll(PARAMETER, '{$1}')
  const { [method]: replaced, ...others } = paths[path] ?? {}
  delete paths[path]
  const item = mayUse(route, options)
    ? { ...others, [method]: { ...routeOperation(route), ...replaced, responses: routeResponses(options) } }
    : others
  if (Object.keys(item).some(key => METHODS.has(key))) paths[path] = item
}

const PARAMETER = /:([A-Za-z_][A-Za-z0-9_]*)/g

function mayUse(route: ExtensionRoute, { project, caller }: RouteOptions): boolean {
  const { registered, model } = project
  const name = route.replaces ? generatedRouteName(route, model) : null
  const scopes = [...registered.binding.scopes.values()]
  const own = scopes.find(({ subject, action }) => `${subject}.${action}` === name) ?? null
  const auth = route.hasAuth ? route.auth : (registered.routesConfig.get(name ?? '')?.auth ?? route.auth)
  return nullIfRefused(() => compileAuthorize(auth, own, project)(caller)) !== null
}

function routeOperation({
  method,
  path,
  source,
}: Pick<RouterMount, 'path' | 'source'> & { readonly method: string }): Schema {
  const names = [...path.matchAll(PARAMETER)].map(([, name]) => name)
  const parameters = names.map(name => ({ name, in: 'path', required: true, schema: { type: 'string' } }))
  return {
    operationId: `${method.toLowerCase()} ${path}`.replaceAll(/[^A-Za-z0-9]+/g, '-'),
    summary: `${method} ${path}`,
    tags: [source],
    ...(parameters.length > 0 && { parameters }),
  }
}

const routeResponses = ({ described }: RouteOptions): Schema => ({
  200: jsonResponse('The answer of the extension', {}),
  204: { description: 'No content' },
  ...errorResponses('route', described),
  default: jsonResponse('Another answer of the extension, or an error', {}),
})

const METHODS: ReadonlySet<string> = new Set(['get', 'post', 'put', 'patch', 'delete'])

/** The routes that an Express router of an extension tells: those of its own, with plain paths. */
function addMount(paths: Record<string, PathItem>, mount: RouterMount, options: RouteOptions): void {
  const { auth, path: base, source, router } = mount
  if (nullIfRefused(() => compileAuthorize(auth, null, options.project)(options.caller)) === null) return
  for (const { path, methods } of routesOfRouter(router)) {
    if (!PLAIN_PATH.test(path)) continue
    const whole = trimEndCharacter(base + path, '/')
    for (const method of methods.filter(each => METHODS.has(each))) {
      const operation = routeOperation({ method: method.toUpperCase(), path: whole, source })
      addPaths(paths, {
        [whole.replaceAll(PARAMETER, '{$1}')]: {
          [method]: { ...operation, responses: routeResponses(options) },
        },
      })
    }
  }
}

/** Segments of text or `:name`; other patterns of Express have no counterpart in OpenAPI. */
const PLAIN_PATH = /^(\/(:[A-Za-z_]\w*|[\w.~-]+))*\/?$/

interface RouterRoute {
  readonly path: string
  readonly methods: readonly string[]
}

/** Express keeps the routes of a router in `stack`; `_all` is a handler for every method. */
function routesOfRouter(router: object): readonly RouterRoute[] {
  const stack: unknown = 'stack' in router ? router.stack : []
  return (Array.isArray(stack) ? stack : []).flatMap(layer => {
    const { path, methods = {} } = layer?.route ?? {}
    const known = Object.keys(methods).includes('_all') ? [...METHODS] : Object.keys(methods)
    return [path].flat().flatMap(each => (typeof each === 'string' ? [{ path: each, methods: known }] : []))
  })
}

/** An address of this machine means nothing to another one: the path alone is relative to where the document is. */
const LOCAL = /^https?:\/\/(localhost|127\.|0\.0\.0\.0|\[)/

interface Assembly {
  readonly project: DescribedProject
  readonly caller: Caller
  readonly options: DescribeOptions
}

function assemble(paths: Readonly<Record<string, PathItem>>, { project, caller, options }: Assembly): Schema {
  const { name, server, rest } = project.settings
  const tags = Object.values(paths).flatMap(item =>
    Object.values(item).flatMap(operation =>
      'tags' in operation && Array.isArray(operation.tags) ? operation.tags : [],
    ),
  )
  const holder = caller.kind === 'token' ? 'the API token' : 'the role'
  return {
    openapi: '3.1.1',
    'x-plinth': describeForms(project, caller),
    info: {
      title: name,
      version: PRODUCT_VERSION,
      description: `What ${holder} \`${caller.grants.name}\` may do.`,
      license: { name: 'As stated by the owner of this API', identifier: 'LicenseRef-API-owner' },
    },
    servers: [{ url: `${LOCAL.test(server.url) ? '' : trimEndCharacter(server.url, '/')}${rest.prefix}` }],
    security: [...(caller.kind === 'public' ? [{}] : []), { bearer: [] }],
    tags: [...new Set<string>(tags)].map(tag => ({ name: tag, description: tag })),
    paths,
    components: {
      securitySchemes: {
        bearer: {
          ...{ type: 'http', scheme: 'bearer' },
          description: 'The `jwt` of a session, or an API token',
        },
      },
      ...usedParts(paths, options),
    },
  }
}

/** The parts that paths refer to: those of replaced operations, and those that only made others, are left out. */
function usedParts(paths: Schema, { table, responses, parameters }: DescribeOptions): Schema {
  const sections: Readonly<Record<string, Readonly<Record<string, Schema>>>> = {
    schemas: table.schemas,
    responses: responses.parts,
    parameters: parameters.parts,
  }
  const used = new Set<string>()
  const waiting: unknown[] = [paths]
  for (let value = waiting.pop(); value !== undefined; value = waiting.pop()) {
    if (typeof value !== 'object' || value === null) continue
    waiting.push(...Object.values(value).filter(part => typeof part === 'object'))
    const ref = '$ref' in value ? String(value.$ref) : ''
    if (ref === '' || used.has(ref)) continue
    used.add(ref)
    const [, , section = '', name = ''] = ref.split('/')
    waiting.push(sections[section]?.[name])
  }
  const kept = Object.entries(sections).map(([section, parts]) => [
    section,
    Object.fromEntries(Object.entries(parts).filter(([name]) => used.has(`#/components/${section}/${name}`))),
  ])
  return Object.fromEntries(kept)
}

const CHANGES = { unpublish: 'Unpublish', 'discard-draft': 'Discard the draft of' } as const

/** What `PUT` cannot do with the versions of a document: `/actions/…/unpublish` and `/actions/…/discard-draft`. */
function changePaths(type: ContentType, options: DescribeOptions): Readonly<Record<string, PathItem>> {
  const context = options.contextOf(type.key, 'publish')
  const access = context?.grants.writeAccess(type, 'publish')
  if (!type.draftAndPublish || !context || !access || access.onlyNew) return {}
  const isOne = type.kind !== 'single'
  const path = isOne ? `/actions/${type.pluralApiId}/{documentId}` : `/actions/${type.key}`
  const versions = arrayOf(documentSchema(type, 'publish', context) ?? {})
  const data = closed({ documentId: { type: 'string' }, entries: versions }, ['documentId', 'entries'])
  const paths = Object.entries(CHANGES).map(([name, verb]) => {
    const post = {
      ...headOf(type, name, `${verb} one ${type.displayName}`),
      parameters: localeParameter(type, options),
      responses: {
        200: jsonResponse('The versions that changed', closed({ data, meta: closed({}) }, ['data', 'meta'])),
        ...errorResponses('write', options),
      },
    }
    const parameters = isOne ? { parameters: [options.parameters.ref('DocumentId', DOCUMENT_ID)] } : {}
    return [`${path}/${name}`, { ...parameters, post }] as const
  })
  return Object.fromEntries(paths)
}

/** The routes of Strapi 4 that create a locale of a document. Body and answer have no envelope, and no parameter has an effect. */
function localizationPaths(type: ContentType, options: DescribeOptions): Readonly<Record<string, PathItem>> {
  const operation = options.strapi4 && type.localized ? createLocale(type, options) : null
  if (operation === null) return {}
  if (type.kind === 'single') return { [`/${type.key}/localizations`]: { post: operation } }
  const parameters = [options.parameters.ref('DocumentId', DOCUMENT_ID)]
  return { [`/${type.pluralApiId}/{documentId}/localizations`]: { parameters, post: operation } }
}

function createLocale(type: ContentType, options: DescribeOptions): Schema | null {
  const allowed = options.contextOf(type.key, 'createLocalization')
  const access = allowed?.grants.writeAccess(type, 'createLocalization')
  if (!allowed || !access) return null
  const flat = { ...allowed, format: 'flat', key: `${allowed.key} flat` } as const
  const locales = options.model.locales.map(({ code }) => code)
  const publishedAt = {
    type: ['string', 'null'],
    description: 'A time publishes the locale; without one it is a draft',
  }
  const body = closed(
    {
      ...bodyProperties(type, access, allowed),
      locale: words(locales),
      ...(type.draftAndPublish && { publishedAt }),
    },
    ['locale'],
  )
  return {
    ...headOf(type, 'createLocalization', `Create a locale of one ${type.displayName}`),
    requestBody: { required: true, content: { 'application/json': { schema: body } } },
    responses: {
      200: options.responses.ref(
        `${schemaName(type)}Localization`,
        jsonResponse(
          'The document in the new locale',
          documentSchema(type, 'createLocalization', flat) ?? {},
        ),
      ),
      ...errorResponses('write', options),
    },
  }
}
