import type { GraphqlContext, ResolverContext, ResolverInfo } from '../context.ts'
import type { ResolverMiddleware } from '../middleware.ts'
import type { PolicyAnswer } from '../policy.ts'
import type { Libraries, NamedMiddleware, NamedPolicy } from '../registry.ts'
import type { PluginApp } from './plugin-app.ts'

/** `graphql` of an extension (spec 4.10): what the schema leaves out, and what it has besides. For `register` alone. */
export interface GraphqlService {
  /** What is generated of a content-type, by its uid; of a component, its fields. */
  shadowCRUD(uid: string): ShadowType
  /** An extension of the schema, or a function that makes one. Calls add up. */
  use(extension: GraphqlExtension | ((tools: GraphqlTools) => GraphqlExtension)): GraphqlService
}

/** `findOne` and `create` are none of a single type's, `createLocalization` is a localized type's alone. */
export type ShadowActionName =
  | 'find'
  | 'findOne'
  | 'create'
  | 'update'
  | 'delete'
  | 'createLocalization'
  | '*'

export interface ShadowType {
  /** Type, inputs, operations, and the relations that lead to it. */
  disable(): ShadowType
  disableQueries(): ShadowType
  disableMutations(): ShadowType
  /** `*`: all of them. */
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
  /** Output, input and filters. */
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
  /** Definitions in the schema language; `extend type …` adds to generated types. */
  readonly typeDefs?: string
  /** By type, then field: a function or `{ resolve }`. Of scalars, enumerations and unions what graphql-tools takes. */
  readonly resolvers?: Readonly<Record<string, TypeResolvers>>
  /** What guards a resolver, by `<Type>.<field>`. */
  readonly resolversConfig?: Readonly<Record<string, ResolverTerms>>
  /** Types in nexus' style. */
  readonly types?: readonly unknown[]
  /** Plugins of nexus. */
  readonly plugins?: readonly unknown[]
}

/** What a function that makes an extension gets. */
export interface GraphqlTools {
  readonly app: PluginApp
  /** The package nexus of the project. Throws where it is not installed. */
  readonly nexus: Nexus
}

/** Typed where the project declares `interface Libraries { nexus: typeof import('nexus') }` in module `plinth`. */
export type Nexus = Libraries extends { readonly nexus: infer Library } ? Library : NexusLike

/** The part of nexus that is here without its types. */
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

/** Of an object type by field; of an enumeration the values that code works with; of a scalar how it is read and written. */
export type TypeResolvers =
  | Readonly<Record<string, Resolver | { readonly resolve: Resolver } | string | number | boolean | null>>
  | { serialize(value: unknown): unknown }

/**
 * Answers one field. `args` are the client's. Documents as `app.documents` has them are taken for every generated
 * type. `generated` runs the resolver that this one stands for; undefined for fields of the extension's own.
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

/** With other arguments than the client's where it is given some. */
export type GeneratedResolver = (args?: Readonly<Record<string, unknown>>) => Promise<unknown>

export interface ResolverTerms {
  /**
   * false opens it to everybody; a scope asks for all of its permissions instead of the field's own. Without either
   * a generated field has its own, and a custom one of Query or Mutation is for signed-in users and full-access tokens.
   */
  readonly auth?: false | { readonly scope?: readonly string[] }
  readonly policies?: readonly ResolverPolicy[]
  /** The first is outermost. */
  readonly middlewares?: readonly ResolverMiddlewareUse[]
}

/** A policy by its name, with its config, or a function. */
export type ResolverPolicy = NamedPolicy | ((context: GraphqlContext, app: PluginApp) => PolicyAnswer)

/** A middleware by its name, with its options, or a function. */
export type ResolverMiddlewareUse = NamedMiddleware | ResolverMiddleware
