import { mergeTypeDefs } from '@graphql-tools/merge'
import { makeExecutableSchema } from '@graphql-tools/schema'
import { pruneSchema } from '@graphql-tools/utils'
import {
  type ASTNode,
  type DocumentNode,
  GraphQLDirective,
  GraphQLSchema,
  isInputObjectType,
  validateSchema,
} from 'graphql'
import { once } from '../base/memo.ts'
import { failed, ok, type Result } from '../base/result.ts'
import type { Model } from '../model/model.ts'
import type { ShadowCrudDeclaration } from '../project/settings/declarations.ts'
import type { GraphqlSettings } from '../project/settings/settings.ts'
import {
  checkDefinitions,
  extensionFault,
  type GraphqlFault,
  lineOf,
  type SourceDefinitions,
  withPlace,
} from './extensions/check-definitions.ts'
import { type ExtensionOptions, extendSchema, type SchemaExtension } from './extensions/schema-extension.ts'
import { configuredFormat, type EntityIdSetting, FORMATS, type FormatName } from './formats/format.ts'
import { typeResolvers } from './resolve/resolvers.ts'
import { openShadowCrud } from './sdl/enabled-crud.ts'
import { generateDefinitions } from './sdl/generate-definitions.ts'
import { type RootField, rootFields } from './sdl/root-fields.ts'

/** The schema of a project with all of its types, before resolvers are attached. */
export interface CompiledSchema {
  readonly format: FormatName
  readonly schema: GraphQLSchema
  readonly roots: readonly RootField[]
  /** The project's additions to the generated schema; null: none. */
  readonly extension: SchemaExtension | null
}

export interface CompileOptions {
  readonly model: Model
  readonly format: FormatName
  /** Other formats of the project: resolversConfig may name their fields, too. */
  readonly otherFormats?: readonly FormatName[]
  /** By uid. */
  readonly shadow: ReadonlyMap<string, ShadowCrudDeclaration>
  /** `graphql.config.shadowCRUD`: generate types for the model. */
  readonly generatesTypes: boolean
  /** `graphql.config.entityId` */
  readonly entityId: EntityIdSetting
  /** null: no extension adds anything. */
  readonly extensions: Omit<ExtensionOptions, 'format' | 'isElsewhere'> | null
}

/** One schema for each served format. */
export type CompiledSchemas = ReadonlyMap<FormatName, CompiledSchema>

/** Compiles the schema of each format that endpoints serve. */
export function compileGraphqlSchemas(
  endpoints: GraphqlSettings['endpoints'],
  options: Omit<CompileOptions, 'format' | 'otherFormats'>,
): Result<CompiledSchemas, GraphqlFault> {
  const formats = [...new Set(Object.values(endpoints))]
  const compiled = formats.map(format => {
    const otherFormats = formats.filter(other => other !== format)
    return [format, compileGraphqlSchema({ ...options, format, otherFormats })] as const
  })
  const faults = compiled.flatMap(([, result]) => (result.ok ? [] : result.reasons))
  const distinct = new Map(faults.map(fault => [JSON.stringify(fault), fault]))
  if (distinct.size > 0) return failed(...distinct.values())
  return ok(new Map(compiled.flatMap(([format, result]) => (result.ok ? [[format, result.value]] : []))))
}

/** Compiles the schema of a model and its extensions; fails with all faults of the extensions. */
export function compileGraphqlSchema(options: CompileOptions): Result<CompiledSchema, GraphqlFault> {
  const { format, extensions: adding, otherFormats = [] } = options
  const { roots, texts } = generate(options, format)
  if (!adding) return ok({ format, schema: assemble(options, { texts, others: [] }), roots, extension: null })
  const namesElsewhere = once(() => namesOf(otherFormats.flatMap(other => generate(options, other).texts)))
  const { extension, faults } = extendSchema(
    { by: null, document: mergeTypeDefs([...texts]) },
    { ...adding, format, isElsewhere: coordinate => namesElsewhere().has(coordinate) },
  )
  if (faults.length > 0) return failed(...faults)
  const make: MakeSchema = (takes = () => true) => {
    const isKept = ({ by }: { readonly by: string | null }) => by === null || takes(by)
    const texts = extension.definitions.filter(isKept).map(({ document }) => document)
    return assemble(options, { texts, others: extension.others.filter(isKept) })
  }
  const schema = validated(make, { extension, root: adding.root })
  return schema.ok ? ok({ format, schema: schema.value, roots, extension }) : schema
}

function generate({ model, generatesTypes, shadow: declared }: CompileOptions, name: FormatName) {
  const format = FORMATS[name]
  const shadow = openShadowCrud(declared)
  const types = generatesTypes ? [...model.contentTypes.values()] : []
  const roots = types.flatMap(type => rootFields(type, { shadow, format }))
  return { roots, texts: generateDefinitions({ model, format, shadow, roots, generatesTypes }) }
}

/** The types of definitions, and their fields as `<Type>.<field>`. */
function namesOf(texts: readonly (string | DocumentNode)[]): ReadonlySet<string> {
  if (texts.length === 0) return new Set()
  const document = mergeTypeDefs([...texts])
  const { types, fields } = checkDefinitions([{ by: null, document }], '').defined
  return new Set([...types, ...fields])
}

/** Compiles the schema of a project without extensions. `shadow`: absent if no plugin disables anything. */
export function compileGenerated({ model, settings, shadow, format }: GeneratedOptions): CompiledSchema {
  const declared = Object.entries(settings.shadowCRUD).map(
    ([key, one]) => [`api::${key}.${key}`, one] as const,
  )
  const generates = settings.config.shadowCRUD
  const compiled = compileGraphqlSchema({
    model,
    format,
    shadow: shadow ?? new Map(declared),
    generatesTypes: generates,
    entityId: settings.config.entityId,
    extensions: null,
  })
  if (compiled.ok) return compiled.value
  throw new TypeError(compiled.reasons.map(({ message }) => message).join('; '))
}

export interface GeneratedOptions {
  readonly model: Model
  readonly format: FormatName
  readonly settings: GraphqlSettings
  readonly shadow?: CompileOptions['shadow']
}

interface AssembledParts {
  readonly texts: readonly (string | DocumentNode)[]
  readonly others: SchemaExtension['others']
}

function assemble(
  { model, format, entityId }: Pick<CompileOptions, 'model' | 'format' | 'entityId'>,
  { texts, others }: AssembledParts,
): GraphQLSchema {
  const schema = makeExecutableSchema({
    typeDefs: mergeTypeDefs([...texts]),
    resolvers: [
      typeResolvers(model, configuredFormat(format, entityId)),
      ...others.map(({ resolvers }) => resolvers),
    ],
    resolverValidationOptions: { requireResolversToMatchSchema: 'ignore' },
  })
  return withNamedDirectives(pruneSchema(schema))
}

/** The schema of all extensions, or of those that are taken. */
type MakeSchema = (takes?: (by: string) => boolean) => GraphQLSchema

interface ValidateOptions extends Pick<ExtensionOptions, 'root'> {
  readonly extension: SchemaExtension
}

/** Validates the schema by graphql-js's own rules, which cover what the earlier checks do not. */
function validated(
  make: MakeSchema,
  { extension: { definitions, others }, root }: ValidateOptions,
): Result<GraphQLSchema, GraphqlFault> {
  const sources = [...new Set([...definitions, ...others].flatMap(({ by }) => by ?? []))]
  const faultOf = (message: string, node?: ASTNode): GraphqlFault => {
    const by =
      definitions.find(each => node !== undefined && isFrom(node, each))?.by ??
      sourceOf(message, make, sources) ??
      'extensions'
    const fault = extensionFault(by, `what it adds makes no schema: ${message}`, node && lineOf(node))
    return withPlace(fault, root)
  }
  try {
    const schema = make()
    const errors = validateSchema(schema)
    if (errors.length === 0) return ok(schema)
    return failed(...errors.map(({ message, nodes }) => faultOf(message, nodes?.[0])))
  } catch (error) {
    return failed(faultOf(toMessage(error)))
  }
}

const isFrom = ({ loc }: ASTNode, { document }: SourceDefinitions): boolean =>
  loc !== undefined && document.definitions.some(each => each.loc?.source === loc.source)

/**
 * The extension without which there is no error, or else another one, or else that has one alone, as others do: the error of a
 * library names only what is wrong.
 */
function sourceOf(message: string, make: MakeSchema, sources: readonly string[]): string | undefined {
  const without = sources.map(by => errorOf(make, other => other !== by))
  const found = [without.indexOf(null), without.findIndex(each => each !== message)].find(at => at >= 0)
  return found === undefined
    ? sources.find(by => errorOf(make, other => other === by) !== null)
    : sources[found]
}

function errorOf(make: MakeSchema, takes: (by: string) => boolean): string | null {
  try {
    return validateSchema(make(takes))[0]?.message ?? null
  } catch (error) {
    return toMessage(error)
  }
}

const toMessage = (error: unknown): string => (error instanceof Error ? error.message : String(error))

/**
 * Keeps the directives of the October 2021 specification, and newer ones only if used: clients with a closed list of
 * directive locations (a generated enumeration) cannot read a schema with an unknown location.
 */
export function withNamedDirectives(schema: GraphQLSchema): GraphQLSchema {
  const config = schema.toConfig()
  const usesOneOf = config.types.some(type => isInputObjectType(type) && type.isOneOf)
  const directives = config.directives
    .filter(({ name }) => name !== 'oneOf' || usesOneOf)
    .map(inKnownLocations)
  return new GraphQLSchema({ ...config, directives })
}

/** Removes the new location of `@deprecated`, which no definition here uses. */
function inKnownLocations(directive: GraphQLDirective): GraphQLDirective {
  if (directive.name !== 'deprecated') return directive
  const config = directive.toConfig()
  const locations = config.locations.filter(place => String(place) !== 'DIRECTIVE_DEFINITION')
  return new GraphQLDirective({ ...config, locations })
}
