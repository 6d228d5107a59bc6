import { addResolversToSchema } from '@graphql-tools/schema'
import type { IResolvers } from '@graphql-tools/utils'
import {
  defaultFieldResolver,
  type GraphQLField,
  type GraphQLFieldResolver,
  type GraphQLResolveInfo,
  type GraphQLSchema,
  getNamedType,
  isLeafType,
  isObjectType,
} from 'graphql'
import { subjectOf } from '../access/actions.ts'
import { denied } from '../access/denial.ts'
import { forbidden, RequestFault } from '../faults/fault.ts'
import type { GuardOptions } from '../plugins/route-guard.ts'
import type { Populate } from '../query/query.ts'
import type { CompiledSchema } from './compile-schema.ts'
import {
  type FieldAuth,
  type FieldGuard,
  type FieldResolver,
  guardField,
  openFieldAuth,
  type ResolverCall,
} from './extensions/field-guard.ts'
import { loadersFor, openHydrator } from './extensions/hydrate.ts'
import { loadReturned, openBatchLoader, type ReturnedOptions } from './extensions/load-returned.ts'
import { isRow, type ReturnedType, returnedTypes } from './extensions/returned.ts'
import type { SchemaExtension } from './extensions/schema-extension.ts'
import { type FormatName, type Wrappers, wrappersOf } from './formats/format.ts'
import { markField } from './parse/field-marks.ts'
import { type Arguments, UNALIASED } from './parse/operation-context.ts'
import { parsePopulateField } from './parse/parse-selection.ts'
import type { FixedField, FixedOptions } from './resolve/fixed-field.ts'
import { FLAT_MUTATIONS, NESTED_MUTATIONS } from './resolve/generated-mutations.ts'
import { readResolver } from './resolve/resolve-query.ts'
import { type Mutations, writeResolver } from './resolve/resolve-write.ts'
import {
  documentWrapper,
  type ExecutionContext,
  type ResolveOptions,
  toOperationContext,
} from './resolve/resolver-context.ts'
import { type AnsweredRow, fieldPath } from './resolve/resolvers.ts'
import { uploadFields } from './resolve/upload-fields.ts'
import { meField, signInFields, userFields } from './resolve/user-fields.ts'
import type { RootField } from './sdl/root-fields.ts'

/** Services of the project's code, in addition to documents. */
export type CodeServices = Pick<GuardOptions, 'everything' | 'isKnown' | 'observer' | 'timeout'>

export interface ConnectSchemaOptions extends ResolveOptions {
  readonly code?: CodeServices
}

/** Attaches resolvers to the schema in place, then the project's middlewares, policies and own resolvers. */
export function connectSchema(
  { schema, roots, extension }: CompiledSchema,
  resolvers: readonly IResolvers[],
  { code, ...options }: ConnectSchemaOptions,
): void {
  for (const each of resolvers) addResolversToSchema({ ...IN_PLACE, schema, resolvers: each })
  if (!extension || !code) return
  const fieldAuth = openFieldAuth(roots, { ...options, code })
  const changed = new Set(extension.others.flatMap(({ resolvers }) => Object.keys(resolvers)))
  const connecting: ConnectContext = {
    extension,
    changed,
    auth: fieldAuth,
    returned: returnedTypes(options.model, options.format),
    wrappers: wrappersOf(options.model, options.format),
    options,
    code,
  }
  for (const type of Object.values(schema.getTypeMap())) {
    if (!isObjectType(type) || type.name.startsWith('__')) continue
    for (const field of Object.values(type.getFields())) connectField(field, type.name, connecting)
  }
}

/** Disabled mutations have no field, so resolvers without one are ignored. */
const IN_PLACE = {
  updateResolversInPlace: true,
  resolverValidationOptions: { requireResolversToMatchSchema: 'ignore' },
} as const

interface ConnectContext {
  readonly extension: SchemaExtension
  /** Names of the types that the project customizes. */
  readonly changed: ReadonlySet<string>
  readonly auth: FieldAuth
  readonly returned: ReadonlyMap<string, ReturnedType>
  readonly wrappers: Wrappers
  readonly options: ResolveOptions
  readonly code: CodeServices
}

type Field = GraphQLField<unknown, unknown>

const CUSTOM_TYPE = { needsRow: false, auth: { kind: 'own' } } as const

function connectField(field: Field, typeName: string, connecting: ConnectContext): void {
  const { extension, code } = connecting
  const guard = createGuard(field, typeName, connecting)
  if (!guard) {
    // The project's own scalar or enumeration serializes its values.
    const type = getNamedType(field.type)
    if (isLeafType(type) && connecting.changed.has(type.name)) markField(field, CUSTOM_TYPE)
    return
  }
  const { middlewares, policies, wraps, custom } = guard
  const auth = extension.config.get(`${typeName}.${field.name}`)?.auth ?? { kind: 'own' }
  const hasCode = custom !== null || middlewares.length + policies.length + wraps.length > 0
  markField(field, { needsRow: hasCode, auth })
  const resolve = guardField(guard, code)
  // graphql-js types the context as unknown; every operation here runs with an ExecutionContext.
  field.resolve = resolve as GraphQLFieldResolver<unknown, unknown>
}

/** null: a generated field without any customization. */
function createGuard(
  field: Field,
  typeName: string,
  { extension, auth: fieldAuth, returned, wrappers, options, code }: ConnectContext,
): FieldGuard | null {
  const coordinate = `${typeName}.${field.name}`
  const isGenerated = extension.defined.generated.has(coordinate)
  const config = extension.config.get(coordinate)
  const wraps = extension.wraps.get(coordinate) ?? []
  const resolver = extension.resolvers.get(coordinate) ?? null
  if (isGenerated && !config && !resolver && wraps.length === 0) return null
  const generated = (field.resolve ?? defaultFieldResolver) as FieldResolver
  const input = { ...options, wrappers, everything: code.everything }
  const list = returned.get(typeName)
  return {
    enter: fieldAuth.enter({ coordinate, isGenerated, auth: config?.auth ?? { kind: 'own' } }),
    middlewares: config?.middlewares ?? [],
    policies: config?.policies ?? [],
    wraps,
    custom: resolver ?? (isGenerated ? null : property),
    generated: isGenerated ? generated : null,
    reread: isGenerated && list && field.args.length > 0 ? openReread(list, input) : null,
    hydrate: openHydrator(field.type, returned, input),
  }
}

/** Default resolver: the property of the parent. */
const property: FieldGuard['custom'] = (parent, args, context, info) =>
  defaultFieldResolver(parent, args, context, info as unknown as GraphQLResolveInfo)

interface SchemaOptions extends FixedOptions {
  /** Services of the project's code; absent if it has none. */
  readonly code?: CodeServices
}

/** Adds resolvers to a compiled schema: those of root fields, and the project's guards around them. */
export function buildSchema(compiled: CompiledSchema, options: SchemaOptions): GraphQLSchema {
  connectSchema(compiled, [generatedResolvers(compiled.roots, options), fixedResolvers(options)], options)
  return compiled.schema
}

const generatedResolvers = (roots: readonly RootField[], options: ResolveOptions) => ({
  Query: Object.fromEntries(
    roots.filter(({ root }) => root === 'Query').map(root => [root.name, readResolver(root, options)]),
  ),
  Mutation: Object.fromEntries(
    roots
      .filter(({ root }) => root === 'Mutation')
      .map(root => [root.name, writeResolver(root, MUTATIONS[options.format.name], options)]),
  ),
})

const MUTATIONS: Readonly<Record<FormatName, Mutations>> = { nested: NESTED_MUTATIONS, flat: FLAT_MUTATIONS }

/** The resolvers of generate-definitions.ts. */
const fixedResolvers = (options: FixedOptions): IResolvers => ({
  Query: toResolvers({ me: meField(options) }),
  Mutation: toResolvers({ ...signInFields(options), ...userFields(options), ...uploadFields(options) }),
})

type Resolver = GraphQLFieldResolver<unknown, ExecutionContext, Arguments>

const toResolvers = (fields: Readonly<Record<string, FixedField>>): Record<string, Resolver> =>
  Object.fromEntries(Object.entries(fields).map(([name, field]) => [name, toResolver(field)]))

const toResolver =
  ({ allows, reason, resolve }: FixedField): Resolver =>
  async (_parent, args, execution, info) => {
    if (!(await allows(execution))) throw new RequestFault(forbidden(reason(execution)))
    return resolve(args, execution, info)
  }

/**
 * Reads a generated list again with arguments that code changed: one statement for all rows of one place with equal
 * arguments. Rejects with Error for lists of components, which are read with their documents.
 */
const openReread =
  ({ holder }: ReturnedType, options: ReturnedOptions) =>
  async ({ parent, args, execution: { caller }, info }: ResolverCall): Promise<unknown> => {
    const coordinate = `${info.parentType.name}.${info.fieldName}`
    const link = options.format.linkField(holder, info.fieldName)
    const attribute = link?.attribute ?? holder.attributes.get(info.fieldName)
    if (holder.holder !== 'content-type' || !attribute || attribute.kind === 'scalar' || !isRow(parent))
      throw new Error(`${coordinate} is read with its document: code cannot change its arguments`)
    const populate = parsePopulateField(holder, attribute, {
      context: toOperationContext(info, caller, options),
      place: UNALIASED,
      key: String(info.path.key),
      nodes: toNodes(info.fieldNodes),
      args,
    })
    const batches = loadersFor(info.variableValues)
    const place = `${fieldPath(info.path)} ${JSON.stringify(args)}`
    const batch =
      batches.get(place) ??
      openBatchLoader<AnsweredRow, AnsweredRow | null>(documents =>
        loadReturned({ type: holder, documents, populate: [populate], caller }, options),
      )
    batches.set(place, batch)
    const value = linkedValue(await batch.load(parent), populate)
    // A value that access removed is refused.
    if (value === undefined)
      throw denied(caller, link ? subjectOf(link.attribute.target) : subjectOf(holder), 'find')
    if (!link) return value
    return documentWrapper(link.attribute.target, link.use, options.format)(value)
  }

/** A deleted document has no links. */
const linkedValue = (row: AnsweredRow | null, { as }: Populate): unknown => (row ? row[as] : [])

type Nodes = Parameters<typeof parsePopulateField>[2]['nodes']

function toNodes([first, ...others]: ResolverCall['info']['fieldNodes']): Nodes {
  if (!first) throw new TypeError('a field has at least one node')
  return [first, ...others]
}
