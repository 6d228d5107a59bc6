import { createRequire } from 'node:module'
import { join } from 'node:path'
import type { IResolvers } from '@graphql-tools/utils'
import { type GraphQLFieldResolver, type GraphQLNamedType, type GraphQLSchema, parse } from 'graphql'
import type { Nexus, Resolver } from '../../plugins/services/graphql-service.ts'
import type { ExtensionPart, NexusUse } from './extension-part.ts'

/** What a plugin of nexus puts round a resolver. */
export type NexusWrap = (
  parent: unknown,
  args: unknown,
  context: unknown,
  info: unknown,
  next: GraphQLFieldResolver<unknown, unknown>,
) => unknown

export interface NexusPart extends Pick<ExtensionPart, 'document' | 'resolvers' | 'others'> {
  /** By `<Type>.<field>`, round fields that are not nexus' own. */
  readonly wraps: ReadonlyMap<string, readonly NexusWrap[]>
}

/**
 * Types in nexus' style → what they add to a schema that is there: nexus makes the whole of both, and the difference
 * is written in the schema language. `base`: that schema, as text.
 */
export function makeNexusPart(use: NexusUse, base: string, library: NexusLibrary): NexusPart {
  const known = library.graphql.buildSchema(base, { assumeValidSDL: true })
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
  /** What each plugin puts round a field; nexus may ask it twice. */
  readonly wraps: ReadonlyMap<string, ReadonlyMap<number, NexusWrap>>
}

interface NexusField {
  readonly parentTypeConfig: { readonly name: string }
  readonly fieldConfig: { readonly name: string }
}

type CreateWrap = (asked: NexusField) => NexusWrap | undefined

/** The same plugins, heard when they say what they put round a field. */
function recordWraps(plugins: readonly unknown[]): RecordedWraps {
  const wraps = new Map<string, Map<number, NexusWrap>>()
  const heard = plugins.map((plugin, index) => {
    const config = configOf(plugin)
    const ask = config.onCreateFieldResolver as CreateWrap | undefined
    if (!ask) return plugin
    const onCreateFieldResolver: CreateWrap = asked => {
      const wrap = ask(asked)
      const field = `${asked.parentTypeConfig.name}.${asked.fieldConfig.name}`
      if (wrap) wraps.set(field, (wraps.get(field) ?? new Map()).set(index, wrap))
      return wrap
    }
    return withConfig(plugin, { ...config, onCreateFieldResolver })
  })
  return { plugins: heard, wraps }
}

function configOf(plugin: unknown): Readonly<Record<string, unknown>> {
  if (typeof plugin === 'object' && plugin !== null && 'config' in plugin) {
    const { config } = plugin
    if (typeof config === 'object' && config !== null) return { ...config }
  }
  throw new Error('plugins are what nexus.plugin({ … }) makes')
}

/** nexus knows its plugins by their class. */
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

/** A type of the same name with the fields alone that were not there; null where there are none. */
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
  // Made for the copy of the GraphQL library that nexus has; what it is called with is the same.
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

/** nexus as the project has it, and the GraphQL library that it works with, which may be another copy than ours. */
export interface NexusLibrary {
  readonly nexus: Nexus
  readonly graphql: typeof import('graphql')
  makeSchema(terms: Readonly<Record<string, unknown>>): GraphQLSchema
}

/** Where the package is looked for: in the project, then beside the server itself. */
export const nexusPlaces = (root: string): readonly string[] => [join(root, 'project.yaml'), import.meta.url]

/** An optional package: it is loaded when an extension asks for it. Throws Error, in a sentence, where it is not installed. */
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
