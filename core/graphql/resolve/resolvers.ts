import type { IResolvers } from '@graphql-tools/utils'
import type { GraphQLFieldResolver, GraphQLResolveInfo, GraphQLScalarType } from 'graphql'
import { forbidden, RequestFault } from '../../faults/fault.ts'
import { graphqlEnumValues } from '../../model/enum-names.ts'
import { type Attribute, type Holder, isLink, type Model } from '../../model/model.ts'
import { graphqlEnumName, graphqlTypeName, graphqlWrapperNames, graphqlZoneName } from '../../model/names.ts'
import { type Arguments, answerKey } from '../parse/operation-context.ts'
import { parsePage, parseRows } from '../parse/parse-arguments.ts'
import { createScalars } from '../sdl/scalars.ts'
import { zoneInput } from '../sdl/zone-input.ts'

/** A document or component as read by the statement of its root field. */
export type AnsweredRow = Readonly<Record<string, unknown>>

type Resolver = GraphQLFieldResolver<AnsweredRow, unknown>
type TypeResolvers = Record<string, Resolver | ((value: AnsweredRow) => string) | string>

/** Resolvers of generated types: they take values from rows that were already read. */
export function typeResolvers(model: Model): IResolvers {
  const holders: readonly Holder[] = [...model.contentTypes.values(), ...model.components.values()]
  return Object.fromEntries<TypeResolvers | GraphQLScalarType>([
    ...Object.entries(createScalars(model)),
    ...holders.flatMap(holder => [...holderResolvers(holder), ...attributeTypes(holder, model)]),
  ])
}

function holderResolvers(holder: Holder): readonly (readonly [string, TypeResolvers])[] {
  const name = graphqlTypeName(holder)
  const fields: TypeResolvers = {}
  for (const attribute of holder.attributes.values()) {
    const resolver = resolverOf(holder, attribute)
    if (resolver) fields[attribute.name] = resolver
  }
  if (holder.holder === 'component') return [[name, fields]]
  const entity = { id: ({ documentId }: AnsweredRow) => documentId, attributes: (row: AnsweredRow) => row }
  return [
    [name, fields],
    [graphqlWrapperNames(name).entity, entity as TypeResolvers],
  ]
}

/** null for scalars: graphql-js reads the row's property. */
function resolverOf(holder: Holder, attribute: Attribute): Resolver | null {
  if (attribute.kind === 'scalar' || attribute.name === 'documentId') return null
  const place = holder.holder === 'component' ? componentFieldPlace : documentFieldPlace
  const find: Resolver = (row, _args, _context, info) => row[answerKey(place(info), attribute.name)]
  return (row, args, context, info) => {
    const found = find(row, args, context, info)
    if (found === undefined) checkArguments(attribute, args)
    if (!isLink(attribute)) return found
    // Access removed the link from the answer: the caller may not follow it (reference/graphql.md#8-permissions).
    if (found === undefined) throw new RequestFault(forbidden())
    return { data: found }
  }
}

const componentFieldPlace = ({ path }: GraphQLResolveInfo) =>
  ({ data: null, attributes: null, key: String(path.key) }) as const

/** The response keys of the enclosing `data` and `attributes`, list indexes skipped. */
const documentFieldPlace = ({ path: { key, prev } }: GraphQLResolveInfo) => ({
  data: keyAbove(prev),
  attributes: fieldKey(prev),
  key: String(key),
})

function attributeTypes(
  holder: Holder,
  { components }: Model,
): readonly (readonly [string, TypeResolvers | GraphQLScalarType])[] {
  const name = graphqlTypeName(holder)
  return [...holder.attributes.values()].flatMap(
    (attribute): (readonly [string, TypeResolvers | GraphQLScalarType])[] => {
      if (attribute.kind === 'zone')
        return [
          [graphqlZoneName(name, attribute.name), { __resolveType: zoneType(attribute) }],
          zoneInput(name, attribute, components),
        ]
      if (attribute.kind !== 'scalar' || attribute.type !== 'enumeration') return []
      const values = graphqlEnumValues(attribute.values ?? [])
      return [[graphqlEnumName(name, attribute.name), Object.fromEntries(values)]]
    },
  )
}

function zoneType({
  components,
}: Extract<Attribute, { readonly kind: 'zone' }>): (row: AnsweredRow) => string {
  const names = new Map<unknown, string>(
    components.map(component => [component.uid, graphqlTypeName(component)]),
  )
  return ({ __component }) => names.get(__component) ?? 'Error'
}

type AnswerPath = GraphQLResolveInfo['path'] | undefined

/** The field at the end of a path, list indexes skipped. */
const enclosingField = (path: AnswerPath): AnswerPath =>
  typeof path?.key === 'number' ? enclosingField(path.prev) : path

/** The response key of that field; `:` if there is none, which no field can have. */
export const fieldKey = (path: AnswerPath): string => String(enclosingField(path)?.key ?? ':')

/** The response key of the parent field. */
export const keyAbove = (path: AnswerPath): string => fieldKey(enclosingField(path)?.prev)

/** The response keys down to a field, the same for all rows of a list. */
export const fieldPath = (path: AnswerPath): string => {
  const field = enclosingField(path)
  return field ? `${fieldPath(field.prev)}.${field.key}` : ''
}

/** Throws the fault of a list's arguments, if that is the reason why its row has no value. */
function checkArguments(attribute: Attribute, args: Arguments): void {
  const holder = isLink(attribute)
    ? attribute.target
    : attribute.kind === 'component'
      ? attribute.component
      : null
  if (!holder) return
  parseRows(holder, args)
  parsePage(args.pagination, NO_LIMITS)
}

const NO_LIMITS = { amountLimit: Number.MAX_SAFE_INTEGER, defaultLimit: 1 }
