import {
  type Attribute,
  type ContentType,
  type Holder,
  isLink,
  type LinkAttribute,
} from '../../model/model.ts'
import { graphqlEnumName, graphqlTypeName, graphqlWrapperNames, graphqlZoneName } from '../../model/names.ts'
import type { FormatName, GraphqlFormat, LinkField } from '../formats/format.ts'
import type { EnabledCrud } from './enabled-crud.ts'
import { filterInputName, SCALAR_NAMES } from './scalar-names.ts'
import { field, rowsArguments } from './sdl.ts'

export interface FieldOptions {
  readonly shadow: EnabledCrud
  readonly format: GraphqlFormat
}

/** The fields of a content-type's types in a format. */
interface AttributeRules {
  /** The id in outputs and in filters; components have their own. */
  readonly outputIds: readonly string[]
  readonly filterIds: readonly string[]
  /** `locale` comes behind `localizations`. */
  readonly localeLast: boolean
  /** System attributes that inputs accept. Only publishedAt of the nested format has an effect. */
  readonly inputStamps: ReadonlySet<string>
  inputExtras(type: ContentType): readonly string[]
  /** Filters have private attributes; their use is refused when the query is restricted to its caller. */
  readonly privateFilters: boolean
  isShown(type: ContentType, attribute: Attribute): boolean
}

/** Timestamps, which inputs accept because answers contain them (reference/graphql.md#2-generated-types). */
export const STAMPS: ReadonlySet<string> = new Set(['createdAt', 'updatedAt', 'publishedAt'])

const RULES: Readonly<Record<FormatName, AttributeRules>> = {
  nested: {
    // The entity has the id.
    outputIds: [],
    filterIds: ['id: IDFilterInput'],
    localeLast: true,
    inputStamps: STAMPS,
    inputExtras: () => [],
    privateFilters: true,
    // No `publishedAt` on types without drafts, and no `focalPoint`, which files have only in the flat format.
    isShown: (type, { name, system }) =>
      system && name === 'publishedAt'
        ? type.draftAndPublish
        : !(type.uid === 'plugin::upload.file' && name === 'focalPoint'),
  },
  flat: {
    outputIds: ['documentId: ID!'],
    filterIds: ['documentId: IDFilterInput'],
    localeLast: false,
    inputStamps: new Set(['publishedAt']),
    inputExtras: type => (type.localized ? [] : ['locale: String']),
    privateFilters: false,
    isShown: () => true,
  },
}

/** The union of the types that a file can be used in, and of all others, as in Strapi. */
export const MORPH_UNION = 'GenericMorph'

/** The fields of `<Type>` or of a component's type; empty if all attributes are private. */
export function outputFields(holder: Holder, { shadow, format }: FieldOptions): readonly string[] {
  const shown = attributesInOrder(holder, format).filter(
    attribute =>
      isReadable(attribute) &&
      isShown(holder, attribute, format) &&
      shadow.hasAttribute(holder, attribute, 'output'),
  )
  const own = holder.holder === 'component' ? ['id: ID!'] : RULES[format.name].outputIds
  return [...own, ...shown.flatMap(attribute => outputField(holder, attribute, format))]
}

/** Attributes in declared order, then timestamps, `localizations`, `locale`; without ids. */
function attributesInOrder(holder: Holder, format: GraphqlFormat): readonly Attribute[] {
  const all = [...holder.attributes.values()].filter(({ name }) => name !== 'id' && name !== 'documentId')
  if (!RULES[format.name].localeLast) return all
  const isLast = ({ name, system }: Attribute) => system && name === 'locale'
  return [...all.filter(attribute => !isLast(attribute)), ...all.filter(isLast)]
}

const isShown = (holder: Holder, attribute: Attribute, format: GraphqlFormat): boolean =>
  holder.holder === 'content-type'
    ? RULES[format.name].isShown(holder, attribute)
    : !(attribute.system && attribute.name === 'publishedAt')

/** Private attributes and password hashes are never answered (reference/graphql.md#0-decisions; reference/safety.md#s2-passwords). */
const isReadable = (attribute: Attribute): boolean => !attribute.private && !isPassword(attribute)

function outputField(holder: Holder, attribute: Attribute, format: GraphqlFormat): readonly string[] {
  const type = (named: string) => `${named}${attribute.required ? '!' : ''}`
  if (isLink(attribute))
    return format.linkFields(attribute).map(([name, use]) => linkField(name, { attribute, use }, format))
  const args =
    attribute.kind === 'component' && attribute.repeatable ? rowsArguments(attribute.component, format) : []
  return [field(attribute.name, type(outputType(holder, attribute)), args)]
}

/** A relation or media field. */
function linkField(name: string, { attribute, use }: LinkField, format: GraphqlFormat): string {
  const { target, required } = attribute
  const typeName = graphqlTypeName(target)
  const { around } = format.shapeOf(typeName, use)
  const args = attribute.many ? rowsArguments(target, format) : []
  if (!around && attribute.many) return field(name, `[${typeName}]!`, args)
  return field(name, `${around?.type ?? typeName}${required ? '!' : ''}`, args)
}

function outputType(holder: Holder, attribute: Exclude<Attribute, LinkAttribute>): string {
  const own = graphqlTypeName(holder)
  switch (attribute.kind) {
    case 'component': {
      const name = graphqlTypeName(attribute.component)
      return attribute.repeatable ? `[${name}]` : name
    }
    case 'zone':
      return `[${graphqlZoneName(own, attribute.name)}]`
    case 'morph':
      return `[${MORPH_UNION}]`
    case 'scalar':
      return attribute.type === 'enumeration'
        ? graphqlEnumName(own, attribute.name)
        : SCALAR_NAMES[attribute.type]
  }
}

/** The fields of `<Type>Input`, all nullable. */
export function inputFields(holder: Holder, { shadow, format }: FieldOptions): readonly string[] {
  const { inputStamps, inputExtras } = RULES[format.name]
  const isWritable = ({ name, writable, system }: Attribute) => (system ? inputStamps.has(name) : writable)
  const written = attributesInOrder(holder, format).filter(
    attribute => isWritable(attribute) && shadow.hasAttribute(holder, attribute, 'input'),
  )
  const own = holder.holder === 'component' ? ['id: ID'] : []
  const extras = holder.holder === 'component' ? [] : inputExtras(holder)
  return [...own, ...written.map(attribute => field(attribute.name, inputType(holder, attribute))), ...extras]
}

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
    case 'morph':
      throw new TypeError(`${attribute.name} is not written`)
    case 'scalar':
      return attribute.type === 'enumeration'
        ? graphqlEnumName(own, attribute.name)
        : SCALAR_NAMES[attribute.type]
  }
}

/** The fields of `<Type>FiltersInput`. Media and zones are excluded. */
export function filterFields(holder: Holder, { shadow, format }: FieldOptions): readonly string[] {
  const { privateFilters, filterIds } = RULES[format.name]
  const name = graphqlWrapperNames(graphqlTypeName(holder)).filters
  const fields = attributesInOrder(holder, format)
    .filter(
      attribute =>
        !isInternal(attribute) &&
        !isPassword(attribute) &&
        (privateFilters || !attribute.private) &&
        isShown(holder, attribute, format) &&
        shadow.hasAttribute(holder, attribute, 'filters'),
    )
    .flatMap(attribute => {
      const type = filterType(attribute)
      return type === null ? [] : [field(attribute.name, type)]
    })
  const ids = holder.holder === 'content-type' ? filterIds : []
  return [...ids, ...fields, field('and', `[${name}]`), field('or', `[${name}]`), field('not', name)]
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
    case 'morph':
      return null
  }
}

const filtersOf = (holder: Holder): string => graphqlWrapperNames(graphqlTypeName(holder)).filters
