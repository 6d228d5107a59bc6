import { createRequire } from 'node:module'
import { join } from 'node:path'
import type { IResolvers } from '@graphql-tools/utils'
import { type GraphQLFieldResolver, type GraphQLNamedType, type GraphQLSchema, parse } from 'graphql'
import type { Nexus, Resolver } from '../../plugins/services/graphql-service.ts'
import type { ExtensionPart, NexusUse } from './extension-part.ts'

/** A wrapper that a nexus plugin adds around a resolver. */
export type NexusWrap = (
  parent: unknown,
  args: unknown,
  context: unknown,
  info: unknown,
  next: GraphQLFieldResolver<unknown, unknown>,
) => unknown

export interface NexusPart extends Pick<ExtensionPart, 'document' | 'resolvers' | 'others'> {
  /** Wrappers by `<Type>.<field>`, for fields that nexus does not define. */
  readonly wraps: ReadonlyMap<string, readonly NexusWrap[]>
}

/**
 * Builds nexus types on top of a schema: nexus creates the combined schema, and the difference is printed in the schema
 * language. `known`: the schema, of the library's graphql-js.
 */
export function makeNexusPart(use: NexusUse, known: GraphQLSchema, library: NexusLibrary): NexusPart {
  const listening = recordWraps(use.plugins)
  const schema = library.makeSchema({
    types: use.types,
    plugins: listening.plugins,
    mergeSchema: { schema: known, mergeTypes: true },
    shouldGenerateArtifacts: false,
    outputs: false,
  })
  const added = difference(schema, known, library)
  const own = ({ resolvers }: Pick<NexusPart, 'resolvers'>, field: string) => resolvers.has(field)
  const wraps = [...listening.wraps].filter(([field]) => !own(added, field))
  return { ...added, wraps: new Map(wraps.map(([field, byPlugin]) => [field, [...byPlugin.values()]])) }
}

interface RecordedWraps {
  readonly plugins: readonly unknown[]
  /** Wrappers by field and plugin index; nexus may call a plugin twice per field. */
  readonly wraps: ReadonlyMap<string, ReadonlyMap<number, NexusWrap>>
}

interface NexusField {
  readonly parentTypeConfig: { readonly name: string }
  readonly fieldConfig: { readonly name: string }
}

type CreateWrap = (field: NexusField) => NexusWrap | undefined

/** Replaces the plugins by ones that record their wrappers. */
function recordWraps(plugins: readonly unknown[]): RecordedWraps {
  const wraps = new Map<string, Map<number, NexusWrap>>()
  const recording = plugins.map((plugin, index) => {
    const config = configOf(plugin)
    const createWrap = config.onCreateFieldResolver as CreateWrap | undefined
    if (!createWrap) return plugin
    const onCreateFieldResolver: CreateWrap = field => {
      const wrap = createWrap(field)
      const coordinate = `${field.parentTypeConfig.name}.${field.fieldConfig.name}`
      if (wrap) wraps.set(coordinate, (wraps.get(coordinate) ?? new Map()).set(index, wrap))
      return wrap
    }
    return withConfig(plugin, { ...config, onCreateFieldResolver })
  })
  return { plugins: recording, wraps }
}

function configOf(plugin: unknown): Readonly<Record<string, unknown>> {
  if (typeof plugin === 'object' && plugin !== null && 'config' in plugin) {
    const { config } = plugin
    if (typeof config === 'object' && config !== null) return { ...config }
  }
  throw new Error('plugins are what nexus.plugin({ … }) makes')
}

/** Keeps the prototype: nexus checks a plugin's class. */
const withConfig = (plugin: unknown, config: object): object =>
  Object.assign(Object.create(Object.getPrototypeOf(plugin)), plugin, { config })

type SchemaDifference = Omit<NexusPart, 'wraps'>

function difference(
  schema: GraphQLSchema,
  known: GraphQLSchema,
  { graphql }: Pick<NexusLibrary, 'graphql'>,
): SchemaDifference {
  const texts: string[] = []
  const resolvers = new Map<string, Resolver>()
  const others: Record<string, IResolvers[string]> = {}
  for (const type of Object.values(schema.getTypeMap())) {
    if (type.name.startsWith('__') || graphql.isSpecifiedScalarType(type)) continue
    const before = known.getType(type.name)
    const shown = before ? withNewFields(type, before, graphql) : type
    if (!shown) continue
    const text = graphql.printType(shown)
    texts.push(before ? `extend ${text.replace(/^"""[\s\S]*?"""\n/, '')}` : text)
    for (const [field, resolve] of fieldResolvers(shown, graphql))
      resolvers.set(`${type.name}.${field}`, resolve)
    if (!before) Object.assign(others, typeResolvers(type, graphql))
  }
  return { document: texts.length === 0 ? null : parse(texts.join('\n\n')), resolvers, others }
}

type Library = NexusLibrary['graphql']

/** The type with only its new fields; null: it has none. */
function withNewFields(
  type: GraphQLNamedType,
  before: GraphQLNamedType,
  graphql: Library,
): GraphQLNamedType | null {
  if (graphql.isObjectType(type) && graphql.isObjectType(before)) {
    const { fields, ...config } = type.toConfig()
    const added = Object.entries(fields).filter(([name]) => !(name in before.getFields()))
    const own = { ...config, interfaces: [], fields: Object.fromEntries(added) }
    return added.length === 0 ? null : new graphql.GraphQLObjectType(own)
  }
  if (graphql.isInputObjectType(type) && graphql.isInputObjectType(before)) {
    const { fields, ...config } = type.toConfig()
    const added = Object.entries(fields).filter(([name]) => !(name in before.getFields()))
    return added.length === 0
      ? null
      : new graphql.GraphQLInputObjectType({ ...config, fields: Object.fromEntries(added) })
  }
  return null
}

function* fieldResolvers(type: GraphQLNamedType, graphql: Library): Generator<readonly [string, Resolver]> {
  if (!graphql.isObjectType(type)) return
  // Typed by nexus's own copy of graphql-js; the call is the same.
  for (const [name, { resolve }] of Object.entries(type.getFields()))
    if (resolve) yield [name, resolve as unknown as Resolver]
}

function typeResolvers(type: GraphQLNamedType, graphql: Library): IResolvers {
  if (graphql.isEnumType(type))
    return { [type.name]: Object.fromEntries(type.getValues().map(({ name, value }) => [name, value])) }
  if (graphql.isAbstractType(type) && type.resolveType)
    return { [type.name]: { __resolveType: type.resolveType } }
  if (graphql.isScalarType(type)) {
    const { serialize, parseValue, parseLiteral } = type
    return { [type.name]: { serialize, parseValue, parseLiteral } } as IResolvers
  }
  return {}
}

/** The project's nexus and the copy of graphql-js that it uses, which may differ from ours. */
export interface NexusLibrary {
  readonly nexus: Nexus
  readonly graphql: typeof import('graphql')
  makeSchema(config: Readonly<Record<string, unknown>>): GraphQLSchema
}

/** Search paths of the package: the project, then the server. */
export const nexusPlaces = (root: string): readonly string[] => [join(root, 'project.yaml'), import.meta.url]

/** Loads the optional package at its first use. Throws Error if it is not installed. */
export function loadNexus(places: readonly string[]): NexusLibrary {
  for (const from of places) {
    const require = createRequire(from)
    const path = resolveFrom(require)
    if (path === null) continue
    const nexus = require(path)
    return { nexus, graphql: createRequire(path)('graphql'), makeSchema: nexus.makeSchema }
  }
  throw new Error('it needs the package nexus, which is not installed: npm install nexus')
}

function resolveFrom(require: NodeJS.Require): string | null {
  try {
    return require.resolve('nexus')
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'MODULE_NOT_FOUND') return null
    throw error
  }
}
