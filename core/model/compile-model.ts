import { deepFreeze, present } from '../base/plain-data.ts'
import { failed, ok, type Result } from '../base/result.ts'
import { parseJsonText } from '../base/text.ts'
import type { Diagnostic } from '../faults/diagnostic.ts'
import { compilePattern } from '../project/pattern.ts'
import type { Project } from '../project/project.ts'
import type { AttributeDeclaration, ScalarDeclaration } from '../project/settings/declarations.ts'
import type {
  ComponentUse,
  DynamicZoneDeclaration,
  Json,
  LocaleSettings,
  MediaDeclaration,
  RelationDeclaration,
  SearchDeclaration,
} from '../project/settings/settings.ts'
import { checkDeclarations } from './check/check-declarations.ts'
import {
  type Declarations,
  type DeclaredComponent,
  type DeclaredHolder,
  type DeclaredType,
  toDeclarations,
} from './declarations.ts'
import type {
  Attribute,
  AttributeBase,
  Component,
  ComponentAttribute,
  ContentType,
  DeclaredSearch,
  Locale,
  MediaAttribute,
  Model,
  MorphAttribute,
  RelationAttribute,
  ScalarAttribute,
  ValueType,
  ZoneAttribute,
} from './model.ts'

/** Compiles a project's declarations to its model; fails with all diagnostics at once. */
export function compileModel(project: Project): Result<Model, Diagnostic> {
  const declarations = toDeclarations(project.settings)
  const diagnostics = checkDeclarations(declarations, project)
  return diagnostics.length === 0 ? ok(buildModel(declarations)) : failed(...diagnostics)
}

/** Builds the model from checked declarations. A missing name here is a bug in a check. */
function buildModel(declarations: Declarations): Model {
  const shells = toShells(declarations)
  for (const holder of declarations.holders) fill(holder, shells)
  for (const holder of declarations.holders) connect(holder, shells)
  return finish(declarations, shells)
}

type AttributeMap = Map<string, Attribute>

/** Content-types refer to each other, so all are created before any gets its attributes. */
interface ModelShells {
  readonly types: ReadonlyMap<DeclaredHolder, ContentType>
  readonly components: ReadonlyMap<DeclaredHolder, Component>
  readonly attributes: ReadonlyMap<DeclaredHolder, AttributeMap>
  readonly declarations: Declarations
}

function toShells(declarations: Declarations): ModelShells {
  const attributes = new Map(
    declarations.holders.map(holder => [holder as DeclaredHolder, new Map<string, Attribute>()]),
  )
  const own = (holder: DeclaredHolder) => found(attributes.get(holder), holder.uid)
  return {
    types: new Map(declarations.types.map(type => [type, typeShell(type, own(type))])),
    components: new Map(
      declarations.components.map(component => [component, componentShell(component, own(component))]),
    ),
    attributes,
    declarations,
  }
}

const typeShell = (type: DeclaredType, attributes: AttributeMap): ContentType => ({
  holder: 'content-type',
  uid: type.uid,
  key: type.key,
  builtIn: type.builtIn,
  kind: type.kind,
  pluralApiId: type.pluralApiId,
  displayName: type.displayName,
  draftAndPublish: type.draftAndPublish,
  localized: type.localized,
  tableName: type.tableName,
  indexes: type.indexes.flatMap(each => ('attributes' in each ? [] : [each])),
  textIndexes: [...new Set(type.indexes.flatMap(each => ('attributes' in each ? each.attributes : [])))],
  search: type.search && toSearch(type.search),
  attributes,
  ...present({ description: type.description, renamedFrom: type.renamedFrom }),
})

function toSearch({ attributes, languages, typos }: SearchDeclaration): DeclaredSearch | null {
  const fields = Object.entries(attributes).map(([path, weight]) => ({ path, weight }))
  return fields.length === 0 ? null : { fields, languages, typos }
}

const componentShell = (component: DeclaredComponent, attributes: AttributeMap): Component => ({
  holder: 'component',
  uid: component.uid,
  category: component.category,
  key: component.key,
  displayName: component.displayName,
  tableName: component.tableName,
  attributes,
  ...present({ description: component.description, renamedFrom: component.renamedFrom }),
})

function fill(holder: DeclaredHolder, shells: ModelShells): void {
  const attributes = found(shells.attributes.get(holder), holder.uid)
  const around = contextOf(holder, shells)
  const type = shells.types.get(holder)
  const all = [
    ...(type ? leadingAttributes(type) : [componentIdAttribute]),
    ...Object.entries(holder.attributes).map(([name, declaration]) =>
      buildAttribute(name, declaration, around),
    ),
    ...(type?.uid === 'plugin::upload.file' ? [relatedAttribute([...shells.types.values()])] : []),
    ...(type ? trailingAttributes(type) : []),
  ]
  for (const attribute of all) attributes.set(attribute.name, attribute)
}

function contextOf(holder: DeclaredHolder, { types, components, declarations }: ModelShells): BuildContext {
  const target = (name: string) => {
    const declared = found(declarations.targets.get(name), name)
    return found(types.get(declared), name)
  }
  const component = (uid: string) => {
    const declared = found(declarations.componentsByUid.get(uid), uid)
    return found(components.get(declared), uid)
  }
  return { localized: holder.localized, target, component, file: target('plugin::upload.file') }
}

type Mutable<Value> = { -readonly [Key in keyof Value]: Value[Key] }

function connect(holder: DeclaredHolder, { attributes }: ModelShells): void {
  const own = found(attributes.get(holder), holder.uid)
  for (const [name, declaration] of Object.entries(holder.attributes)) {
    if (declaration.type !== 'relation') continue
    const other = declaration.inversedBy ?? declaration.mappedBy
    if (other === undefined) continue
    const side: Mutable<RelationAttribute> = relationNamed(own, name)
    side.counterpart = relationNamed(side.target.attributes, other)
  }
}

function relationNamed(attributes: ReadonlyMap<string, Attribute>, name: string): RelationAttribute {
  const attribute = attributes.get(name)
  if (attribute?.kind !== 'relation') throw new TypeError(`\`${name}\` is no relation`)
  return attribute
}

function finish(declarations: Declarations, shells: ModelShells): Model {
  for (const attributes of shells.attributes.values()) deepFreeze([...attributes.values()])
  const contentTypes = new Map([...shells.types.values()].map(type => [type.uid, deepFreeze(type)]))
  const components = new Map(
    [...shells.components.values()].map(component => [component.uid, deepFreeze(component)]),
  )
  const builtIn = (uid: string) => found(contentTypes.get(uid), uid)
  return deepFreeze({
    contentTypes,
    components,
    builtIn: {
      user: builtIn('plugin::users-permissions.user'),
      role: builtIn('plugin::users-permissions.role'),
      file: builtIn('plugin::upload.file'),
      locale: builtIn('plugin::i18n.locale'),
    },
    locales: localesOf(declarations.settings.i18n),
    defaultLocale: declarations.settings.i18n.defaultLocale,
  })
}

const localesOf = ({ locales }: LocaleSettings): readonly Locale[] =>
  locales.map(({ code, name, renamedFrom }) => ({ code, name, ...present({ renamedFrom }) }))

function found<Value>(value: Value | undefined, name: string): Value {
  if (value === undefined) throw new TypeError(`\`${name}\` is not declared`)
  return value
}

/** The types and components that attributes refer to. All names were checked. */
interface BuildContext {
  readonly localized: boolean
  target(name: string): ContentType
  component(uid: string): Component
  readonly file: ContentType
}

function buildAttribute(name: string, declaration: AttributeDeclaration, around: BuildContext): Attribute {
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
      default: withJsonText(type, declaration.default),
      min,
      max,
      minLength,
      maxLength,
      lowerCase,
      targetField,
      backfill: withJsonText(type, backfill),
    }),
    ...(regex === undefined ? {} : { regex: compilePattern(regex) }),
    ...(type === 'uid' ? { generate: declaration.generate === true } : {}),
    ...enumerationOf(declaration),
  }
}

/** A text of type json is JSON text, as in bodies. Another text is the value itself. */
function withJsonText(type: ScalarDeclaration['type'], value: Json | undefined): Json | undefined {
  return type === 'json' && typeof value === 'string' && parseJsonText(value) === undefined
    ? JSON.stringify(value)
    : value
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
const leadingAttributes = ({ localized }: ContentType): readonly Attribute[] => [
  scalar('id', 'id', localized),
  scalar('documentId', 'documentId', false),
]

/** System attributes that follow the declared ones: timestamps on every type, reference/rest.md#1-envelope-and-status-codes. */
function trailingAttributes(type: ContentType): readonly Attribute[] {
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
const relatedAttribute = (types: readonly ContentType[]): MorphAttribute => ({
  ...base('related', false),
  kind: 'morph',
  types,
})

const componentIdAttribute: Attribute = scalar('id', 'id', false)
