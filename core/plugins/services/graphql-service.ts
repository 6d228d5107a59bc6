import type { GraphqlContext, PluginApp, ResolverContext, ResolverInfo } from '../context.ts'
import type { ComponentUid, ScopeName, TypeUid } from '../document-types.ts'
import type { ResolverMiddleware } from '../middleware.ts'
import type { PolicyAnswer } from '../policy.ts'
import type { Libraries, NamedMiddleware, NamedPolicy } from '../registry.ts'

/** The `graphql` service of an extension (reference/graphql.md#9-extension-service): removes and adds parts of the schema. Usable in `register` only. */
export interface GraphqlService {
  /** Switches for the generated schema of a content-type, by uid; for a component only its fields. */
  shadowCRUD(uid: TypeUid | ComponentUid): ShadowType
  /** Adds an extension of the schema, or a function that returns one. Can be called several times. */
  use(extension: GraphqlExtension | ((tools: GraphqlTools) => GraphqlExtension)): GraphqlService
}

/** Single types have no `findOne` and `create`; only localized types have `createLocalization`. */
export type ShadowActionName =
  | 'find'
  | 'findOne'
  | 'create'
  | 'update'
  | 'delete'
  | 'createLocalization'
  | '*'

export interface ShadowType {
  /** Removes type, inputs, operations, and relations to it. */
  disable(): ShadowType
  disableQueries(): ShadowType
  disableMutations(): ShadowType
  /** `*`: all actions. */
  disableAction(action: ShadowActionName): ShadowType
  disableActions(actions: readonly ShadowActionName[]): ShadowType
  field(name: string): ShadowField
  isEnabled(): boolean
  isDisabled(): boolean
  areQueriesEnabled(): boolean
  areQueriesDisabled(): boolean
  areMutationsEnabled(): boolean
  areMutationsDisabled(): boolean
  isActionEnabled(action: ShadowActionName): boolean
  isActionDisabled(action: ShadowActionName): boolean
}

export interface ShadowField {
  /** Removes output, input and filters. */
  disable(): ShadowField
  disableOutput(): ShadowField
  disableInput(): ShadowField
  disableFilters(): ShadowField
  isEnabled(): boolean
  isDisabled(): boolean
  hasInputEnabled(): boolean
  hasOutputEnabled(): boolean
  hasFiltersEnabled(): boolean
}

export interface GraphqlExtension {
  /** Definitions in SDL; `extend type …` extends generated types. */
  readonly typeDefs?: string
  /** By type and field: a function or `{ resolve }`. For scalars, enumerations and unions as in graphql-tools. */
  readonly resolvers?: Readonly<Record<string, TypeResolvers>>
  /** Auth, policies and middlewares of resolvers, by `<Type>.<field>`. */
  readonly resolversConfig?: Readonly<Record<string, ResolverOptions>>
  /** Types in nexus' style. */
  readonly types?: readonly unknown[]
  /** Plugins of nexus. */
  readonly plugins?: readonly unknown[]
}

/** Argument of a function that returns an extension. */
export interface GraphqlTools {
  readonly app: PluginApp
  /** The format of the schema to extend. With several formats the function runs once for each. */
  readonly format: 'nested' | 'flat'
  /** The project's package nexus. Throws if it is not installed. */
  readonly nexus: Nexus
}

/** Typed if the project declares `interface Libraries { nexus: typeof import('nexus') }` in module `plinth`. */
export type Nexus = Libraries extends { readonly nexus: infer Library } ? Library : NexusLike

/** Fallback type for nexus without its own types. */
export interface NexusLike {
  objectType(config: NexusDefinition): unknown
  inputObjectType(config: NexusDefinition): unknown
  extendType(config: { readonly type: string; definition(block: NexusBlock): void }): unknown
  extendInputType(config: { readonly type: string; definition(block: NexusBlock): void }): unknown
  enumType(config: object): unknown
  scalarType(config: object): unknown
  unionType(config: object): unknown
  interfaceType(config: object): unknown
  arg(config: object): unknown
  stringArg(config?: object): unknown
  intArg(config?: object): unknown
  floatArg(config?: object): unknown
  booleanArg(config?: object): unknown
  idArg(config?: object): unknown
  nonNull(type: unknown): unknown
  nullable(type: unknown): unknown
  list(type: unknown): unknown
  plugin(config: object): unknown
}

interface NexusDefinition {
  readonly name: string
  readonly description?: string
  definition(block: NexusBlock): void
}

export interface NexusBlock {
  readonly nonNull: NexusBlock
  readonly nullable: NexusBlock
  readonly list: NexusBlock
  field(name: string, config: NexusField & { readonly type: unknown }): void
  string(name: string, config?: NexusField): void
  int(name: string, config?: NexusField): void
  float(name: string, config?: NexusField): void
  boolean(name: string, config?: NexusField): void
  id(name: string, config?: NexusField): void
}

interface NexusField {
  readonly description?: string
  readonly args?: Readonly<Record<string, unknown>>
  readonly resolve?: Resolver
  readonly [key: string]: unknown
}

/** Object types: resolvers by field. Enumerations: internal values. Scalars: serialization. */
export type TypeResolvers =
  | Readonly<Record<string, Resolver | { readonly resolve: Resolver } | string | number | boolean | null>>
  | { serialize(value: unknown): unknown }

/**
 * Resolves one field. `args` are the client's arguments. For generated types it may return documents of `app.documents`.
 * `generated` runs the resolver that this one replaces; undefined for fields that the extension adds.
 */
export type Resolver = {
  resolve(
    parent: unknown,
    args: Readonly<Record<string, unknown>>,
    context: ResolverContext,
    info: ResolverInfo,
    generated?: GeneratedResolver,
  ): unknown
}['resolve']

/** Runs with the client's arguments unless others are given. */
export type GeneratedResolver = (args?: Readonly<Record<string, unknown>>) => Promise<unknown>

export interface ResolverOptions {
  /**
   * false: public. With `scope`, the caller needs all of its permissions instead of the field's own. By default a generated
   * field requires its own permission; a custom field of Query or Mutation is for signed-in users and full-access tokens.
   */
  readonly auth?: false | { readonly scope?: readonly ScopeName[] }
  readonly policies?: readonly ResolverPolicy[]
  /** The first middleware is outermost. */
  readonly middlewares?: readonly ResolverMiddlewareUse[]
}

/** A policy by name, by name with config, or as a function. */
export type ResolverPolicy = NamedPolicy | ((context: GraphqlContext, app: PluginApp) => PolicyAnswer)

/** A middleware by name, by name with options, or as a function. */
export type ResolverMiddlewareUse = NamedMiddleware | ResolverMiddleware
