import { mergeTypeDefs } from '@graphql-tools/merge'
import type { IResolvers } from '@graphql-tools/utils'
import { concatAST, type DocumentNode, type GraphQLSchema, print } from 'graphql'
import { once } from '../../base/memo.ts'
import { didYouMean } from '../../base/nearest.ts'
import { messageWithPlace } from '../../base/project-frame.ts'
import type { PluginApp } from '../../plugins/context.ts'
import type { GraphqlTools, Resolver, ResolverOptions } from '../../plugins/services/graphql-service.ts'
import type { GraphqlUse } from '../../plugins/services/open-graphql-service.ts'
import { type BoundResolver, bindResolver, type RouteBinding } from '../../plugins/services/rest-service.ts'
import type { Settings } from '../../project/settings/settings.ts'
import type { FormatName } from '../formats/format.ts'
import {
  checkDefinitions,
  extensionFault,
  type GraphqlFault,
  placeName,
  projectFault,
  type SchemaFields,
  type SourceDefinitions,
  withPlace,
} from './check-definitions.ts'
import { DefinitionError, type ExtensionPart, fieldFaults, otherResolvers, toPart } from './extension-part.ts'
import { loadNexus, makeNexusPart, type NexusLibrary, type NexusWrap, nexusPlaces } from './nexus-part.ts'

/** Scalars, values of enumerations and functions such as `__resolveType` of one call of `graphql.use`. */
export interface SourceResolvers {
  readonly by: string
  readonly resolvers: IResolvers
}

/** The project's additions to the generated schema. */
export interface SchemaExtension {
  readonly definitions: readonly SourceDefinitions[]
  readonly defined: SchemaFields
  /** By `<Type>.<field>`, as the maps below. */
  readonly resolvers: ReadonlyMap<string, Resolver>
  readonly others: readonly SourceResolvers[]
  readonly config: ReadonlyMap<string, BoundResolver>
  readonly wraps: ReadonlyMap<string, readonly NexusWrap[]>
}

export interface ExtensionOptions extends Pick<ConfigOptions, 'isElsewhere'> {
  readonly format: FormatName
  readonly uses: readonly GraphqlUse[]
  readonly app: PluginApp
  readonly settings: Pick<Settings, 'resolversConfig'>
  readonly binding: RouteBinding
  /** The project's folder. */
  readonly root: string
}

interface Extended {
  readonly extension: SchemaExtension
  /** If there are faults, the extension must not be used. */
  readonly faults: readonly GraphqlFault[]
}

/** Collects the additions of extensions and project.yaml, and checks them against the generated schema. */
export function extendSchema(generated: SourceDefinitions, options: ExtensionOptions): Extended {
  const faults: GraphqlFault[] = []
  const library = once(() => loadNexus(nexusPlaces(options.root)))
  const parts = options.uses.flatMap(use =>
    collectFault(use.by, () => evaluate(use, options, library), { faults, root: options.root }),
  )
  const base = openBase(() => mergeTypeDefs([generated.document, ...documentsOf(parts)]))
  const unmade: GraphqlFault[] = []
  const made = parts.flatMap(part =>
    collectFault(part.by, () => withNexus(part, base, library), { faults: unmade, root: options.root }),
  )
  const definitions = [generated, ...made.flatMap(toDefinitions)]
  const checked = checkDefinitions(definitions, options.root)
  // Wrong definitions of others are no fault of an extension that uses nexus, which needs them.
  if (!base.hasFailed || checked.faults.length === 0) faults.push(...unmade)
  const { fields } = checked.defined
  const resolvers = collectResolvers(made, fields, options)
  const otherFaults = findOtherFaults(made, checked.defined.types, options)
  const collected = collectConfig({ ...options, parts: made, fields })
  return {
    extension: {
      definitions,
      defined: checked.defined,
      resolvers: resolvers.resolvers,
      others: made.map(({ by, others }) => ({ by, resolvers: others })),
      config: collected.config,
      wraps: joinWraps(made),
    },
    faults: [...faults, ...checked.faults, ...resolvers.faults, ...otherFaults, ...collected.faults].map(
      fault => withPlace(fault, options.root),
    ),
  }
}

/** The schema of all SDL, on top of which nexus builds. */
interface NexusBase {
  open(library: NexusLibrary): GraphQLSchema
  readonly hasFailed: boolean
}

function openBase(merge: () => DocumentNode): NexusBase {
  let opened: GraphQLSchema | undefined
  let hasFailed = false
  return {
    open({ graphql }) {
      try {
        opened ??= graphql.buildSchema(print(merge()), { assumeValidSDL: true })
        return opened
      } catch (error) {
        hasFailed = true
        throw error
      }
    },
    get hasFailed() {
      return hasFailed
    },
  }
}

function collectFault<Made>(
  by: string,
  make: () => Made,
  { faults, root }: { readonly faults: GraphqlFault[]; readonly root: string },
): readonly Made[] {
  try {
    return [make()]
  } catch (error) {
    const line = error instanceof DefinitionError ? error.line : undefined
    faults.push(extensionFault(by, messageWithPlace(error, root), line))
    return []
  }
}

function evaluate(
  { by, extension }: GraphqlUse,
  { app, format }: ExtensionOptions,
  library: () => NexusLibrary,
): ExtensionPart {
  if (typeof extension !== 'function') return toPart(by, extension)
  const tools: GraphqlTools = {
    app,
    format,
    get nexus() {
      return library().nexus
    },
  }
  const made: unknown = extension(tools)
  if (made instanceof Promise)
    throw new Error('the function of graphql.use(…) has to return its extension at once')
  return toPart(by, made)
}

interface CompletePart extends ExtensionPart {
  readonly wraps: SchemaExtension['wraps']
}

const NO_WRAPS: SchemaExtension['wraps'] = new Map()

/** Adds the definitions that nexus creates from the part's types. */
function withNexus(part: ExtensionPart, base: NexusBase, library: () => NexusLibrary): CompletePart {
  if (!part.nexus) return { ...part, wraps: NO_WRAPS }
  const known = base.open(library())
  const { document, resolvers, others, wraps } = makeNexusPart(part.nexus, known, library())
  const documents = [part.document, document].filter(each => each !== null)
  return {
    ...part,
    document: documents.length === 0 ? null : concatAST(documents),
    resolvers: new Map([...resolvers, ...part.resolvers]),
    others: { ...others, ...part.others },
    wraps,
  }
}

const documentsOf = (parts: readonly ExtensionPart[]): readonly DocumentNode[] =>
  parts.flatMap(({ document }) => document ?? [])

const toDefinitions = ({ by, document }: ExtensionPart): readonly SourceDefinitions[] =>
  document ? [{ by, document }] : []

function collectResolvers(
  parts: readonly ExtensionPart[],
  fields: ReadonlySet<string>,
  { isElsewhere, root }: ExtensionOptions,
): { readonly resolvers: ReadonlyMap<string, Resolver>; readonly faults: readonly GraphqlFault[] } {
  const found = new Map<string, { readonly by: string; readonly resolve: Resolver }>()
  const faults: GraphqlFault[] = []
  const types = once(() => new Set(Array.from(fields, typeOf)))
  for (const { by, resolvers, others } of parts) {
    for (const [coordinate, fault] of fieldFaults(others))
      if (types().has(typeOf(coordinate)))
        faults.push(extensionFault(by, `resolvers \`${coordinate}\` ${fault}`, resolverLine(coordinate)))
    for (const [coordinate, resolve] of resolvers) {
      const known = found.get(coordinate)
      if (known) faults.push(resolvedTwice(coordinate, by, { other: known.by, root }))
      else if (fields.has(coordinate)) found.set(coordinate, { by, resolve })
      else if (!isElsewhere(coordinate))
        faults.push(extensionFault(by, noField(coordinate, fields), resolverLine(coordinate)))
    }
  }
  return { resolvers: new Map([...found].map(([coordinate, { resolve }]) => [coordinate, resolve])), faults }
}

/** Faults of scalars, values of enumerations and functions such as `__resolveType`: an unknown type, or two implementations. */
function findOtherFaults(
  parts: readonly ExtensionPart[],
  types: ReadonlySet<string>,
  { isElsewhere, root }: ExtensionOptions,
): readonly GraphqlFault[] {
  const found = new Map<string, { readonly by: string; readonly value: unknown }>()
  const entries = parts.flatMap(({ by, others }) =>
    otherResolvers(others).map(([coordinate, value]) => ({ by, coordinate, value })),
  )
  return entries.flatMap(({ by, coordinate, value }) => {
    const [type = ''] = coordinate.split('.')
    if (!types.has(type) && !isElsewhere(type)) {
      const message = `resolvers \`${type}\`: no type of the schema has this name${didYouMean(type, types)}`
      return [extensionFault(by, message, `${type}:`)]
    }
    const known = found.get(coordinate)
    found.set(coordinate, known ?? { by, value })
    return known && known.value !== value ? [resolvedTwice(coordinate, by, { other: known.by, root })] : []
  })
}

function resolvedTwice(
  coordinate: string,
  by: string,
  { other, root }: { readonly other: string; readonly root: string },
): GraphqlFault {
  const line = resolverLine(coordinate)
  return extensionFault(by, `${placeName(other, line, root)} resolves \`${coordinate}\` already`, line)
}

const typeOf = (coordinate: string): string => coordinate.slice(0, coordinate.indexOf('.'))

/** How the resolver of a field or type begins in code. */
const resolverLine = (coordinate: string): string => `${coordinate.slice(coordinate.indexOf('.') + 1)}:`

const noField = (coordinate: string, fields: ReadonlySet<string>): string =>
  `resolvers \`${coordinate}\`: no field of the schema has this name${didYouMean(coordinate, fields)}`

function joinWraps(parts: readonly CompletePart[]): SchemaExtension['wraps'] {
  const joined = new Map<string, NexusWrap[]>()
  for (const { wraps } of parts)
    for (const [coordinate, own] of wraps) joined.set(coordinate, [...(joined.get(coordinate) ?? []), ...own])
  return joined
}

interface ConfigOptions {
  readonly settings: Pick<Settings, 'resolversConfig'>
  readonly parts: readonly ExtensionPart[]
  /** The schema's fields, as `<Type>.<field>`. */
  readonly fields: ReadonlySet<string>
  readonly binding: RouteBinding
  /** The project's folder. */
  readonly root: string
  /** True for fields of another format that the project serves. */
  isElsewhere(coordinate: string): boolean
}

/** Collects resolversConfig of project.yaml and extensions; each field may be configured once. */
function collectConfig(options: ConfigOptions): {
  readonly config: ReadonlyMap<string, BoundResolver>
  readonly faults: readonly GraphqlFault[]
} {
  const config = new Map<string, BoundResolver>()
  const faults: GraphqlFault[] = []
  const origins = new Map<string, string>()
  for (const each of configEntries(options)) {
    const { coordinate, by } = each
    if (!options.fields.has(coordinate) && options.isElsewhere(coordinate)) continue
    const origin = origins.get(coordinate)
    const bound =
      origin === undefined
        ? bind(each, options)
        : `${placeName(origin, coordinate, options.root)} configures it already`
    if (typeof bound === 'string') faults.push(toFault(each, bound))
    else config.set(coordinate, bound)
    origins.set(coordinate, origin ?? by)
  }
  return { config, faults }
}

interface ConfigEntry {
  readonly coordinate: string
  readonly by: string
  readonly options: ResolverOptions
  readonly isDeclared: boolean
}

/** Extensions first, so that a duplicate is reported at its position in project.yaml. */
const configEntries = ({ settings, parts }: ConfigOptions): readonly ConfigEntry[] => [
  ...parts.flatMap(({ by, config }) =>
    [...config].map(([coordinate, options]) => ({ coordinate, by, options, isDeclared: false })),
  ),
  ...Object.entries(settings.resolversConfig).map(([coordinate, options]) => ({
    coordinate,
    by: 'project.yaml',
    options,
    isDeclared: true,
  })),
]

/** The bound configuration, or a message why it is invalid. */
function bind(
  { coordinate, options }: ConfigEntry,
  { fields, binding }: ConfigOptions,
): BoundResolver | string {
  if (!fields.has(coordinate)) return `no field of the schema has this name${didYouMean(coordinate, fields)}`
  try {
    return bindResolver(options, binding)
  } catch (error) {
    return error instanceof Error ? error.message : String(error)
  }
}

const toFault = ({ coordinate, by, isDeclared }: ConfigEntry, message: string): GraphqlFault =>
  isDeclared
    ? projectFault(['resolversConfig', coordinate], `\`${coordinate}\`: ${message}`)
    : extensionFault(by, `resolversConfig \`${coordinate}\`: ${message}`, coordinate)
