import type { IResolvers } from '@graphql-tools/utils'
import { type DocumentNode, GraphQLError, isScalarType, parse } from 'graphql'
import { didYouMean } from '../../base/nearest.ts'
import { assertKnownKeys } from '../../plugins/plugin-module.ts'
import type { GraphqlExtension, Resolver, ResolverOptions } from '../../plugins/services/graphql-service.ts'

/** One call of `graphql.use`, normalized. */
export interface ExtensionPart {
  /** The extension, such as `extensions/search`. */
  readonly by: string
  readonly document: DocumentNode | null
  /** Resolvers by `<Type>.<field>`. */
  readonly resolvers: ReadonlyMap<string, Resolver>
  /** Resolvers of scalars, enumerations and unions. */
  readonly others: IResolvers
  readonly config: ReadonlyMap<string, ResolverOptions>
  readonly nexus: NexusUse | null
}

/** Input for nexus. */
export interface NexusUse {
  readonly types: readonly unknown[]
  readonly plugins: readonly unknown[]
}

const KEYS: readonly string[] = ['typeDefs', 'resolvers', 'resolversConfig', 'types', 'plugins']

/** Normalizes an extension. Throws Error with a message for what violates its TypeScript type. */
export function toPart(by: string, extension: unknown): ExtensionPart {
  assertExtension(extension)
  const unknown = Object.keys(extension).find(key => !KEYS.includes(key))
  if (unknown !== undefined) throw new Error(`unknown key \`${unknown}\`${didYouMean(unknown, KEYS)}`)
  const { typeDefs, resolvers = {}, resolversConfig = {}, types, plugins } = extension
  assertTypes(types ?? [])
  return {
    by,
    document: parseDefinitions(typeDefs),
    ...sortResolvers(resolvers),
    config: new Map(Object.entries(resolversConfig)),
    nexus: types || plugins ? { types: types ?? [], plugins: plugins ?? [] } : null,
  }
}

/** nexus silently ignores values that contain no type. */
function assertTypes(types: unknown): void {
  if (!Array.isArray(types)) throw new Error('types is a list of types in the style of nexus')
  for (const [index, type] of types.entries())
    if (!holdsType(type)) throw new Error(`types[${index}] is no type in the style of nexus`)
}

/** Modules and lists may contain types; types of nexus have a name or extend a type. */
function holdsType(input: unknown): boolean {
  if (typeof input === 'function') return true
  if (typeof input !== 'object' || input === null) return false
  if ('name' in input || 'typeName' in input || Object.getPrototypeOf(input) !== Object.prototype)
    return !Array.isArray(input) || input.some(holdsType)
  return Object.values(input).some(holdsType)
}

function assertExtension(extension: unknown): asserts extension is GraphqlExtension {
  if (!isRecord(extension)) throw new Error('graphql.use(…) takes an object, or a function that makes one')
}

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

function parseDefinitions(typeDefs: unknown): DocumentNode | null {
  if (typeDefs === undefined || typeDefs === '') return null
  if (typeof typeDefs !== 'string') throw new Error('typeDefs is a text in the schema language')
  try {
    return parse(typeDefs)
  } catch (error) {
    if (!(error instanceof GraphQLError)) throw error
    const { line, column } = error.locations?.[0] ?? { line: 1, column: 1 }
    const text = typeDefs.split(/\r?\n/).slice(0, line).join('\n')
    throw new DefinitionError(`typeDefs, line ${line}, column ${column}: ${error.message}`, text)
  }
}

/** Definitions that cannot be parsed. `line`: their text down to the faulty line. */
export class DefinitionError extends Error {
  readonly line: string

  constructor(message: string, line: string) {
    super(message)
    this.line = line
  }
}

/** Keys of a field that is an object. Guards are in `resolversConfig`. */
const FIELD_KEYS = ['resolve', 'description', 'deprecationReason', 'extensions', 'type', 'args', 'astNode']

type SortedResolvers = Pick<ExtensionPart, 'resolvers' | 'others'>

function sortResolvers(input: unknown): SortedResolvers {
  if (!isRecord(input)) throw new Error('resolvers is an object by type, then by field')
  const resolvers = new Map<string, Resolver>()
  const others: Record<string, IResolvers[string]> = {}
  for (const [type, value] of Object.entries(input)) {
    if (isScalar(value)) others[type] = value
    else if (!isRecord(value)) throw new Error(`resolvers.${type} is an object by field`)
    else others[type] = sortFields(type, value, resolvers)
  }
  return { resolvers, others }
}

/** Adds field resolvers to `resolvers`; returns the rest: `__resolveType`, enumeration values. */
function sortFields(
  type: string,
  fields: Readonly<Record<string, unknown>>,
  resolvers: Map<string, Resolver>,
): IResolvers[string] {
  const rest: Record<string, unknown> = {}
  for (const [field, value] of Object.entries(fields)) {
    if (isRecord(value) && 'subscribe' in value)
      throw new Error(`resolvers.${type}.${field}: there are no subscriptions here`)
    if (isRecord(value) && 'resolve' in value)
      assertKnownKeys(value, FIELD_KEYS, `resolvers.${type}.${field}`)
    const resolve = isRecord(value) && 'resolve' in value ? value.resolve : value
    if (field.startsWith('__') || typeof resolve !== 'function') rest[field] = value
    else resolvers.set(`${type}.${field}`, resolve as Resolver)
  }
  return rest as IResolvers[string]
}

/** What is wrong with values that are no resolvers, by `<Type>.<field>`. Values of enumerations are among them: their types have no fields. */
export const fieldFaults = (others: ExtensionPart['others']): ReadonlyMap<string, string> =>
  new Map(
    Object.entries(others).flatMap(([type, values]) =>
      Object.entries(isScalar(values) ? {} : values).flatMap(([name, value]) => {
        const fault = name.startsWith('__') ? null : fieldFault(value)
        return fault === null ? [] : [[`${type}.${name}`, fault] as const]
      }),
    ),
  )

/** Scalars by their type; values of enumerations and functions such as `__resolveType` by `<Type>.<name>`. */
export const otherResolvers = (others: ExtensionPart['others']): readonly (readonly [string, unknown])[] =>
  Object.entries(others).flatMap(([type, values]): readonly (readonly [string, unknown])[] =>
    isScalar(values)
      ? [[type, values]]
      : Object.entries(values).map(([name, value]) => [`${type}.${name}`, value]),
  )

/** null: a configuration of the field for graphql-tools. */
function fieldFault(value: unknown): string | null {
  if (!isRecord(value) || 'resolve' in value) return 'is no function'
  const unknown = Object.keys(value).find(key => !FIELD_KEYS.includes(key))
  return unknown === undefined ? null : `has no key \`${unknown}\`${didYouMean(unknown, FIELD_KEYS)}`
}

const isScalar = (value: unknown): value is IResolvers[string] =>
  isScalarType(value) || (isRecord(value) && 'serialize' in value)
