import { type Attribute, type Holder, isLink } from '../../model/model.ts'
import { graphqlEnumName, graphqlTypeName, graphqlWrapperNames, graphqlZoneName } from '../../model/names.ts'
import type { EnabledCrud } from './enabled-crud.ts'
import { filterInputName, SCALAR_NAMES } from './scalar-names.ts'
import { field, rowsArguments } from './sdl.ts'

/** The fields of `<Type>` or of a component's type; empty if all attributes are private. */
export function outputFields(holder: Holder, shadow: EnabledCrud): readonly string[] {
  const shown = attributesInOrder(holder).filter(
    attribute =>
      isReadable(attribute) && isShown(holder, attribute) && shadow.has(holder, attribute, 'output'),
  )
  const own = holder.holder === 'component' ? ['id: ID!'] : []
  return [...own, ...shown.map(attribute => outputField(holder, attribute))]
}

/** Attributes in declared order, then timestamps, `localizations`, `locale`; without id and documentId, which the entity has. */
export function attributesInOrder(holder: Holder): readonly Attribute[] {
  const all = [...holder.attributes.values()].filter(({ name }) => name !== 'id' && name !== 'documentId')
  const isLast = ({ name, system }: Attribute) => system && name === 'locale'
  return [...all.filter(attribute => !isLast(attribute)), ...all.filter(isLast)]
}

/**
 * True for attributes of the nested format's outputs and filters: no `publishedAt` on types without drafts, and no
 * `focalPoint`, which files have only in the flat format. Inputs have both (reference/graphql.md#2-generated-types).
 */
export const isShown = (holder: Holder, { name, system }: Attribute): boolean => {
  if (holder.holder !== 'content-type') return !(system && name === 'publishedAt')
  if (system && name === 'publishedAt') return holder.draftAndPublish
  return !(holder.uid === 'plugin::upload.file' && name === 'focalPoint')
}

/** Private attributes and password hashes are never answered (reference/graphql.md#0-decisions; reference/safety.md#s2-passwords). */
const isReadable = (attribute: Attribute): boolean =>
  !attribute.private && !(attribute.kind === 'scalar' && attribute.type === 'password')

function outputField(holder: Holder, attribute: Attribute): string {
  const args = isList(attribute) ? rowsArguments(rowsOf(attribute)) : []
  return field(attribute.name, `${outputType(holder, attribute)}${attribute.required ? '!' : ''}`, args)
}

type ListAttribute = Extract<
  Attribute,
  { readonly kind: 'relation' | 'media' | 'localizations' | 'component' }
>

const isList = (attribute: Attribute): attribute is ListAttribute =>
  isLink(attribute) ? attribute.many : attribute.kind === 'component' && attribute.repeatable

const rowsOf = (attribute: ListAttribute): Holder =>
  attribute.kind === 'component' ? attribute.component : attribute.target

function outputType(holder: Holder, attribute: Attribute): string {
  if (isLink(attribute)) {
    const names = graphqlWrapperNames(graphqlTypeName(attribute.target))
    return attribute.many ? names.relation : names.response
  }
  const own = graphqlTypeName(holder)
  switch (attribute.kind) {
    case 'component': {
      const name = graphqlTypeName(attribute.component)
      return attribute.repeatable ? `[${name}]` : name
    }
    case 'zone':
      return `[${graphqlZoneName(own, attribute.name)}]`
    case 'scalar':
      return attribute.type === 'enumeration'
        ? graphqlEnumName(own, attribute.name)
        : SCALAR_NAMES[attribute.type]
  }
}

/** The fields of `<Type>Input`, all nullable. Timestamps are accepted (reference/graphql.md#2-generated-types), but only publishedAt has an effect. */
export function inputFields(holder: Holder, shadow: EnabledCrud): readonly string[] {
  const written = attributesInOrder(holder).filter(
    attribute => isWritable(attribute) && shadow.has(holder, attribute, 'input'),
  )
  const own = holder.holder === 'component' ? ['id: ID'] : []
  return [...own, ...written.map(attribute => field(attribute.name, inputType(holder, attribute)))]
}

/** Timestamps, which inputs accept because answers contain them (reference/graphql.md#2-generated-types). */
export const STAMPS: ReadonlySet<string> = new Set(['createdAt', 'updatedAt', 'publishedAt'])

const isWritable = ({ name, writable, system }: Attribute): boolean => (system ? STAMPS.has(name) : writable)

function inputType(holder: Holder, attribute: Attribute): string {
  if (isLink(attribute)) return attribute.many ? '[ID]' : 'ID'
  const own = graphqlTypeName(holder)
  switch (attribute.kind) {
    case 'component': {
      const { input } = graphqlWrapperNames(graphqlTypeName(attribute.component))
      return attribute.repeatable ? `[${input}]` : input
    }
    case 'zone':
      return `[${graphqlZoneName(own, attribute.name)}Input!]`
    case 'scalar':
      return attribute.type === 'enumeration'
        ? graphqlEnumName(own, attribute.name)
        : SCALAR_NAMES[attribute.type]
  }
}

/**
 * The fields of `<Type>FiltersInput`, private attributes included: their use is refused when the query is restricted to
 * its caller (reference/graphql.md#8-permissions). Media and zones are excluded.
 */
export function filterFields(holder: Holder, shadow: EnabledCrud): readonly string[] {
  const name = graphqlWrapperNames(graphqlTypeName(holder)).filters
  const fields = attributesInOrder(holder)
    .filter(
      attribute =>
        !isInternal(attribute) &&
        !isPassword(attribute) &&
        isShown(holder, attribute) &&
        shadow.has(holder, attribute, 'filters'),
    )
    .flatMap(attribute => {
      const type = filterType(attribute)
      return type === null ? [] : [field(attribute.name, type)]
    })
  const id = holder.holder === 'content-type' ? ['id: IDFilterInput'] : []
  return [...id, ...fields, field('and', `[${name}]`), field('or', `[${name}]`), field('not', name)]
}

/** Passwords never appear in outputs or filters (reference/graphql.md#0-decisions). */
const isPassword = (attribute: Attribute): boolean =>
  attribute.kind === 'scalar' && attribute.type === 'password'

/** Attributes that only the server reads and writes. */
const isInternal = ({ private: hidden, writable, system }: Attribute): boolean =>
  hidden && !writable && !system

function filterType(attribute: Attribute): string | null {
  switch (attribute.kind) {
    case 'scalar':
      return filterInputName(SCALAR_NAMES[attribute.type])
    case 'component':
      return filtersOf(attribute.component)
    case 'relation':
    case 'localizations':
      return attribute.target.kind === 'single' ? null : filtersOf(attribute.target)
    case 'media':
    case 'zone':
      return null
  }
}

const filtersOf = (holder: Holder): string => graphqlWrapperNames(graphqlTypeName(holder)).filters
