import { addResolversToSchema } from '@graphql-tools/schema'
import type { IResolvers } from '@graphql-tools/utils'
import {
  defaultFieldResolver,
  type GraphQLField,
  type GraphQLFieldResolver,
  type GraphQLResolveInfo,
  getNamedType,
  isLeafType,
  isObjectType,
} from 'graphql'
import type { GuardTerms } from '../plugins/route-guard.ts'
import type { CompiledSchema } from './compile-schema.ts'
import { type FieldDoors, openFieldDoors } from './extensions/field-auth.ts'
import { type FieldGuard, type FieldResolver, guardField } from './extensions/field-guard.ts'
import { adopter } from './extensions/hydrate.ts'
import { anewReader } from './extensions/reread.ts'
import { type ReturnedType, returnedTypes } from './extensions/returned-types.ts'
import type { SchemaExtension } from './extensions/schema-extension.ts'
import { markField } from './parse/field-marks.ts'
import type { ResolveTerms } from './resolve/resolve-read.ts'

/** What code of the project works with, beside documents. */
export type CodeTerms = Pick<GuardTerms, 'everything' | 'isKnown' | 'observer' | 'timeout'>

export interface ConnectTerms extends ResolveTerms {
  readonly code?: CodeTerms
}

/** From now on the schema answers: its own resolvers, then what the project has before, round and in place of them. */
export function connectSchema(
  { schema, roots, extension }: CompiledSchema,
  resolvers: readonly IResolvers[],
  { code, ...terms }: ConnectTerms,
): void {
  for (const each of resolvers) addResolversToSchema({ ...IN_PLACE, schema, resolvers: each })
  if (!extension || !code) return
  const doors = openFieldDoors(roots, { model: terms.model, code })
  const changed = new Set(extension.others.flatMap(others => Object.keys(others)))
  const connecting: Connecting = {
    extension,
    changed,
    doors,
    returned: returnedTypes(terms.model),
    terms,
    code,
  }
  for (const type of Object.values(schema.getTypeMap())) {
    if (!isObjectType(type) || type.name.startsWith('__')) continue
    for (const field of Object.values(type.getFields())) connectField(field, type.name, connecting)
  }
}

/** What is switched off has no field. */
const IN_PLACE = {
  updateResolversInPlace: true,
  resolverValidationOptions: { requireResolversToMatchSchema: 'ignore' },
} as const

interface Connecting {
  readonly extension: SchemaExtension
  /** Types that the project has words of its own for. */
  readonly changed: ReadonlySet<string>
  readonly doors: FieldDoors
  readonly returned: ReadonlyMap<string, ReturnedType>
  readonly terms: ResolveTerms
  readonly code: CodeTerms
}

type Field = GraphQLField<unknown, unknown>

const CHANGED = { seesRow: false, door: { kind: 'own' } } as const

function connectField(field: Field, typeName: string, connecting: Connecting): void {
  const { extension, code } = connecting
  const guard = guardOf(field, typeName, connecting)
  if (!guard) {
    // Its values are written by the project's own scalar or enumeration.
    const type = getNamedType(field.type)
    if (isLeafType(type) && connecting.changed.has(type.name)) markField(field, CHANGED)
    return
  }
  const { middlewares, policies, wraps, custom } = guard
  const door = extension.config.get(`${typeName}.${field.name}`)?.door ?? { kind: 'own' }
  const hasCode = custom !== null || middlewares.length + policies.length + wraps.length > 0
  markField(field, { seesRow: hasCode, door })
  const resolve = guardField(guard, code)
  // graphql-js gives resolvers whatever context an operation is run with: here it is always the same.
  field.resolve = resolve as GraphQLFieldResolver<unknown, unknown>
}

/** null: the field is generated, and nothing is said of it. */
function guardOf(
  field: Field,
  typeName: string,
  { extension, doors, returned, terms, code }: Connecting,
): FieldGuard | null {
  const coordinate = `${typeName}.${field.name}`
  const isGenerated = extension.defined.generated.has(coordinate)
  const config = extension.config.get(coordinate)
  const wraps = extension.wraps.get(coordinate) ?? []
  const resolver = extension.resolvers.get(coordinate) ?? null
  if (isGenerated && !config && !resolver && wraps.length === 0) return null
  const generated = (field.resolve ?? defaultFieldResolver) as FieldResolver
  const given = { ...terms, everything: code.everything }
  const list = returned.get(typeName)
  return {
    enter: doors.enter({ coordinate, isGenerated, door: config?.door ?? { kind: 'own' } }),
    middlewares: config?.middlewares ?? [],
    policies: config?.policies ?? [],
    wraps,
    custom: resolver ?? (isGenerated ? null : property),
    generated: isGenerated ? generated : null,
    readAnew: isGenerated && list && field.args.length > 0 ? anewReader(list, given) : null,
    adopt: adopter(field.type, returned, given),
  }
}

/** A field without a resolver is a property of its parent. */
const property: FieldGuard['custom'] = (parent, args, context, info) =>
  defaultFieldResolver(parent, args, context, info as unknown as GraphQLResolveInfo)
