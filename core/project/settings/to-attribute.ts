import type { Attribute, EnumerationAttribute } from '../project-types.ts'
import type { AttributeDeclaration, Json, MediaKind, ScalarDeclaration, ScalarType } from './settings.ts'

type WrittenAttribute = Exclude<Attribute, string>
type Written<Type> = Extract<WrittenAttribute, { type: Type }>
type WrittenScalar = Exclude<WrittenAttribute, { type: 'relation' | 'media' | 'component' | 'dynamiczone' }>

export const MEDIA_KINDS: readonly MediaKind[] = ['images', 'videos', 'audios', 'files']

export function toAttributes(
  written: Readonly<Record<string, Attribute>> = {},
): Record<string, AttributeDeclaration> {
  return Object.fromEntries(
    Object.entries(written).map(([name, attribute]) => [name, toAttribute(attribute)]),
  )
}

function toAttribute(written: Attribute): AttributeDeclaration {
  const attribute = typeof written === 'string' ? ({ type: written } as WrittenAttribute) : written
  switch (attribute.type) {
    case 'relation':
    case 'component':
    case 'dynamiczone':
    case 'media':
      return toLinked(attribute)
    default:
      return toScalar(attribute)
  }
}

type WrittenLinked = Written<'relation'> | Written<'media'> | Written<'component'> | Written<'dynamiczone'>

function toLinked(attribute: WrittenLinked): AttributeDeclaration {
  const common = toCommon(attribute)
  switch (attribute.type) {
    case 'relation':
      return { ...attribute, ...common }
    case 'media':
      return { multiple: false, allowedTypes: MEDIA_KINDS, ...attribute, ...common }
    case 'component':
      return { repeatable: false, ...attribute, ...common }
    case 'dynamiczone':
      return { ...attribute, ...common }
  }
}

function toScalar(attribute: WrittenScalar): ScalarDeclaration {
  const {
    default: initial,
    backfill,
    ...others
  } = { unique: attribute.type === 'uid', ...attribute } as WrittenScalarFields
  return {
    ...others,
    ...toCommon(attribute),
    ...(initial !== undefined && { default: initial }),
    ...(backfill !== undefined && { backfill }),
    ...(attribute.type === 'enumeration' && { enum: toEnum(attribute.enum) }),
    ...(attribute.type === 'uid' && { generate: attribute.generate ?? false }),
  }
}

/** The union of the keys of all scalar attributes; the schema decides which of them a type has. */
interface WrittenScalarFields extends Omit<ScalarDeclaration, 'type' | 'enum'> {
  readonly type: ScalarType
  readonly default?: Json
  readonly backfill?: Json
}

const toEnum = (words: EnumerationAttribute['enum']): NonNullable<ScalarDeclaration['enum']> =>
  words.map(word => (typeof word === 'string' ? { value: word } : word))

function toCommon(attribute: WrittenAttribute): { required: boolean; private: boolean; writable: boolean } {
  const { required = false, private: isPrivate = false, writable = true } = attribute
  return { required, private: isPrivate, writable }
}
