import { present } from '../base/plain-data.ts'
import { compilePattern } from '../project/pattern.ts'
import type { AttributeDeclaration, ScalarDeclaration } from '../project/settings/declarations.ts'
import type {
  ComponentUse,
  DynamicZoneDeclaration,
  MediaDeclaration,
  RelationDeclaration,
} from '../project/settings/settings.ts'
import type {
  Attribute,
  AttributeBase,
  Component,
  ComponentAttribute,
  ContentType,
  MediaAttribute,
  MorphAttribute,
  RelationAttribute,
  ScalarAttribute,
  ValueType,
  ZoneAttribute,
} from './model.ts'

/** The types and components that attributes refer to. All names were checked. */
export interface BuildContext {
  readonly localized: boolean
  target(name: string): ContentType
  component(uid: string): Component
  readonly file: ContentType
}

export function buildAttribute(
  name: string,
  declaration: AttributeDeclaration,
  around: BuildContext,
): Attribute {
  const base = baseOf(name, declaration, around)
  switch (declaration.type) {
    case 'relation':
      return relationOf(base, declaration, around)
    case 'media':
      return mediaOf(base, declaration, around)
    case 'component':
      return componentOf(base, declaration, around)
    case 'dynamiczone':
      return zoneOf(base, declaration, around)
    default:
      return scalarOf(base, declaration)
  }
}

const baseOf = (name: string, declaration: AttributeDeclaration, around: BuildContext): AttributeBase => ({
  name,
  required: declaration.required,
  private: declaration.private,
  writable: declaration.writable,
  localized: around.localized && declaration.localized !== false,
  system: false,
  ...present({ renamedFrom: declaration.renamedFrom }),
})

/** The counterpart is connected later, when all attributes exist. */
const relationOf = (
  base: AttributeBase,
  declaration: RelationDeclaration,
  around: BuildContext,
): RelationAttribute => ({
  ...base,
  kind: 'relation',
  target: around.target(declaration.target),
  many: isToMany(declaration),
  relation: declaration.relation,
  side: declaration.mappedBy === undefined ? 'owner' : 'inverse',
  counterpart: null,
})

const isToMany = ({ relation }: RelationDeclaration): boolean =>
  relation === 'oneToMany' || relation === 'manyToMany'

const mediaOf = (
  base: AttributeBase,
  declaration: MediaDeclaration,
  around: BuildContext,
): MediaAttribute => ({
  ...base,
  kind: 'media',
  target: around.file,
  many: declaration.multiple,
  allowedTypes: declaration.allowedTypes,
})

const componentOf = (
  base: AttributeBase,
  declaration: ComponentUse,
  around: BuildContext,
): ComponentAttribute => ({
  ...base,
  kind: 'component',
  component: around.component(declaration.component),
  repeatable: declaration.repeatable,
  ...present({ min: declaration.min, max: declaration.max }),
})

const zoneOf = (
  base: AttributeBase,
  declaration: DynamicZoneDeclaration,
  around: BuildContext,
): ZoneAttribute => ({
  ...base,
  kind: 'zone',
  components: declaration.components.map(uid => around.component(uid)),
  ...present({ min: declaration.min, max: declaration.max }),
})

/** A uid is always unique (reference/rest.md#3-attribute-values). */
function scalarOf(base: AttributeBase, declaration: ScalarDeclaration): ScalarAttribute {
  const { type, min, max, minLength, maxLength, lowerCase, targetField, backfill, regex } = declaration
  return {
    ...base,
    kind: 'scalar',
    type,
    unique: declaration.unique || type === 'uid',
    ...present({
      default: declaration.default,
      min,
      max,
      minLength,
      maxLength,
      lowerCase,
      targetField,
      backfill,
    }),
    ...(regex === undefined ? {} : { regex: compilePattern(regex) }),
    ...(type === 'uid' ? { generate: declaration.generate === true } : {}),
    ...enumerationOf(declaration),
  }
}

function enumerationOf({
  enum: values,
}: ScalarDeclaration): Pick<ScalarAttribute, 'values' | 'renamedValues'> {
  if (values === undefined) return {}
  const renamed = values.flatMap(({ value, renamedFrom }): [string, string][] =>
    renamedFrom === undefined ? [] : [[renamedFrom, value]],
  )
  return {
    values: values.map(({ value }) => value),
    ...(renamed.length === 0 ? {} : { renamedValues: new Map(renamed) }),
  }
}

const base = (name: string, localized: boolean) => ({
  name,
  required: false,
  private: false,
  writable: false,
  localized,
  system: true,
})

const scalar = (name: string, type: ValueType, localized: boolean): ScalarAttribute => ({
  ...base(name, localized),
  kind: 'scalar',
  type,
  unique: false,
})

/** System attributes that precede the declared ones. */
export const leadingAttributes = ({ localized }: ContentType): readonly Attribute[] => [
  scalar('id', 'id', localized),
  scalar('documentId', 'documentId', false),
]

/** System attributes that follow the declared ones: timestamps on every type, reference/rest.md#1-envelope-and-status-codes. */
export function trailingAttributes(type: ContentType): readonly Attribute[] {
  const { localized } = type
  const stamps = ['createdAt', 'updatedAt', 'publishedAt'].map(name => scalar(name, 'datetime', localized))
  if (!localized) return stamps
  return [
    ...stamps,
    scalar('locale', 'locale', true),
    { ...base('localizations', true), kind: 'localizations', target: type, many: true },
  ]
}

/** `related` of files. The types may get their attributes later. */
export const relatedAttribute = (types: readonly ContentType[]): MorphAttribute => ({
  ...base('related', false),
  kind: 'morph',
  types,
})

export const componentIdAttribute: Attribute = scalar('id', 'id', false)
