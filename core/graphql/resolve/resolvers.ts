import { isDeepStrictEqual } from 'node:util'
import type { IResolvers } from '@graphql-tools/utils'
import type {
  FieldNode,
  GraphQLFieldResolver,
  GraphQLResolveInfo,
  GraphQLScalarType,
  GraphQLUnionType,
} from 'graphql'
import type { Caller } from '../../access/caller.ts'
import { deniedType } from '../../access/denial.ts'
import { attempt, RequestFault } from '../../faults/fault.ts'
import { graphqlEnumValues } from '../../model/enum-names.ts'
import { type Attribute, type Holder, isLink, type Model } from '../../model/model.ts'
import { graphqlEnumName, graphqlTypeName, graphqlZoneName } from '../../model/names.ts'
import { type GraphqlFormat, type LinkField, type Wrappers, wrappersOf } from '../formats/format.ts'
import { type Arguments, answerKey, rowPlace } from '../parse/operation-context.ts'
import { parsePage, parseRows } from '../parse/parse-arguments.ts'
import { MORPH_UNION } from '../sdl/attribute-fields.ts'
import { createScalars, zoneInput } from '../sdl/scalars.ts'
import { type Counting, countAnswerRows, countError } from './answer-size.ts'

/** A document or component as read by the statement of its root field. */
export type AnsweredRow = Readonly<Record<string, unknown>>

type Resolver = GraphQLFieldResolver<AnsweredRow, Counting & { readonly caller: Caller }>
type TypeResolvers = Record<string, Resolver | ((value: AnsweredRow) => string) | string>

/** Resolvers of generated types: they take values from rows that were already read. */
export function typeResolvers(model: Model, format: GraphqlFormat): IResolvers {
  const holders: readonly Holder[] = [...model.contentTypes.values(), ...model.components.values()]
  const reading: RowReading = { format, wrappers: wrappersOf(model, format) }
  return Object.fromEntries<TypeResolvers | GraphQLScalarType>([
    ...Object.entries(createScalars(model, format)),
    [MORPH_UNION, { __resolveType: typeOfTag(holders, '__type') }],
    ...holders.flatMap(holder => [...holderResolvers(holder, reading), ...attributeTypes(holder, model)]),
  ])
}

interface RowReading {
  readonly format: GraphqlFormat
  readonly wrappers: Wrappers
}

function holderResolvers(holder: Holder, reading: RowReading): readonly (readonly [string, TypeResolvers])[] {
  const name = graphqlTypeName(holder)
  const fields: TypeResolvers = {}
  for (const attribute of holder.attributes.values()) {
    if (attribute.kind === 'scalar') continue
    if (!isLink(attribute)) fields[attribute.name] = rowResolver(attribute, attribute.name, reading)
    else
      for (const [fieldName, use] of reading.format.linkFields(attribute))
        fields[fieldName] = linkResolver({ attribute, use }, reading)
  }
  const { entity } = reading.format.shapeOf(name, 'one')
  if (holder.holder === 'component' || !entity) return [[name, fields]]
  const { entityId } = reading.format
  const ofEntity = { id: (row: AnsweredRow) => row[entityId], attributes: (row: AnsweredRow) => row }
  return [
    [name, fields],
    [entity, ofEntity as TypeResolvers],
  ]
}

/** Takes the value of a component, zone or link from its row; undefined if access removed it or its arguments are invalid. */
const rowResolver =
  (attribute: Attribute, attributeName: string, { wrappers, format }: RowReading): Resolver =>
  (row, args, context, info) => {
    const { path } = info
    const found = row[answerKey(rowPlace(wrapperKeys(path.prev, wrappers)), String(path.key), attributeName)]
    if (found !== undefined) return countAnswerRows(found, context, info, wrappers) ? found : null
    if (!countError(context)) return null
    const refused = onceForRows(info.fieldNodes, args, () => refusalOf(attribute, args, format))
    if (refused) throw refused
    return found
  }

function linkResolver({ attribute, use }: LinkField, reading: RowReading): Resolver {
  const { around } = reading.format.shapeOf(graphqlTypeName(attribute.target), use)
  const find = rowResolver(attribute, attribute.name, reading)
  return (row, args, context, info) => {
    const found = find(row, args, context, info)
    // Access removed the link from the answer: the caller may not follow it (reference/graphql.md#8-permissions).
    if (found === undefined) throw deniedType(context.caller, attribute.target, 'find')
    if (found === null && context.answerSize?.isOver) return null
    return around ? { [around.field]: found } : found
  }
}

/** The response keys of the wrappers that a field is part of, list indexes skipped. */
export function wrapperKeys(path: AnswerPath, wrappers: Wrappers): WrapperKeys {
  const field = enclosingField(path)
  const wrapper = wrappers.get(field?.typename ?? '')
  if (!field || !wrapper) return []
  const own = [String(field.key), wrapper.field] as const
  return wrapper.kind === 'around' ? [own] : [...aroundKeys(field.prev, wrappers), own]
}

/** The same without the object around attributes. */
export const aroundKeys = (path: AnswerPath, wrappers: Wrappers): WrapperKeys =>
  wrappers.get(enclosingField(path)?.typename ?? '')?.kind === 'around' ? wrapperKeys(path, wrappers) : []

type WrapperKeys = readonly (readonly [key: string, name: string])[]

function attributeTypes(
  holder: Holder,
  { components }: Model,
): readonly (readonly [string, TypeResolvers | GraphQLScalarType])[] {
  const name = graphqlTypeName(holder)
  return [...holder.attributes.values()].flatMap(
    (attribute): (readonly [string, TypeResolvers | GraphQLScalarType])[] => {
      if (attribute.kind === 'zone')
        return [
          [
            graphqlZoneName(name, attribute.name),
            { __resolveType: typeOfTag(attribute.components, '__component') },
          ],
          zoneInput(name, attribute, components),
        ]
      if (attribute.kind !== 'scalar' || attribute.type !== 'enumeration') return []
      const values = graphqlEnumValues(attribute.values ?? [])
      return [[graphqlEnumName(name, attribute.name), Object.fromEntries(values)]]
    },
  )
}

/** The type of a row of a union, by the uid that it is tagged with. */
function typeOfTag(holders: readonly Holder[], tag: '__component' | '__type'): (row: AnsweredRow) => string {
  const names = new Map<unknown, string>(holders.map(holder => [holder.uid, graphqlTypeName(holder)]))
  const typeOf = (row: AnsweredRow) => names.get(row[tag]) ?? 'Error'
  generated.add(typeOf)
  return typeOf
}

const generated = new WeakSet<object>()

/** False if project code decides on the types of a union's rows. */
export const isGeneratedUnion = ({ resolveType }: GraphQLUnionType): boolean =>
  typeof resolveType === 'function' && generated.has(resolveType)

type AnswerPath = GraphQLResolveInfo['path'] | undefined

/** The field at the end of a path, list indexes skipped. */
const enclosingField = (path: AnswerPath): AnswerPath =>
  typeof path?.key === 'number' ? enclosingField(path.prev) : path

/** The response keys down to a field, the same for all rows of a list. */
export const fieldPath = (path: AnswerPath): string => {
  const field = enclosingField(path)
  return field ? `${fieldPath(field.prev)}.${field.key}` : ''
}

interface RefusedArguments {
  readonly args: Arguments
  readonly refused: RequestFault | null
}

/** By the nodes of a field, which are the same for all rows of one execution. */
const refusals = new WeakMap<readonly FieldNode[], RefusedArguments>()

/** The refusal of a field's arguments, found once for all rows, unless project code changes the arguments between them. */
function onceForRows(
  nodes: readonly FieldNode[],
  args: Arguments,
  check: () => RequestFault | null,
): RequestFault | null {
  const known = refusals.get(nodes)
  if (known && isDeepStrictEqual(known.args, args)) return known.refused
  const refused = check()
  refusals.set(nodes, { args, refused })
  return refused
}

/** The refusal of a list's arguments, if that is the reason why its row has no value. */
function refusalOf(attribute: Attribute, args: Arguments, format: GraphqlFormat): RequestFault | null {
  const holder = isLink(attribute)
    ? attribute.target
    : attribute.kind === 'component'
      ? attribute.component
      : null
  if (!holder) return null
  const checked = attempt(() => {
    parseRows(holder, args, format)
    parsePage(args.pagination, NO_LIMITS)
  })
  const [refused] = checked.ok ? [] : checked.reasons
  return refused ? new RequestFault(refused) : null
}

const NO_LIMITS = { amountLimit: Number.MAX_SAFE_INTEGER, defaultLimit: 1 }
