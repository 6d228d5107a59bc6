import type { Path } from '../faults/diagnostic.ts'
import type { AttributeDeclaration } from '../project/settings/declarations.ts'
import type {
  ComponentDeclaration,
  ContentTypeDeclaration,
  SearchDeclaration,
  Settings,
  TextIndex,
} from '../project/settings/settings.ts'
import { BUILT_IN_TYPES, type BuiltInDeclaration } from './built-in-types.ts'
import { toPlural, toSnakeCase, toTitle } from './names.ts'

/** All content-types and components of a project with resolved names, not checked yet. */
export interface Declarations {
  readonly settings: Settings
  /** The project's types in file order, then the built-in ones. */
  readonly types: readonly DeclaredType[]
  readonly components: readonly DeclaredComponent[]
  readonly holders: readonly DeclaredHolder[]
  /** By every name that a relation may use for its target: key or uid. */
  readonly targets: ReadonlyMap<string, DeclaredType>
  readonly componentsByUid: ReadonlyMap<string, DeclaredComponent>
}

export type DeclaredHolder = DeclaredType | DeclaredComponent

interface DeclaredBase {
  readonly uid: string
  readonly key: string
  readonly displayName: string
  readonly description?: string
  readonly renamedFrom?: string
  readonly tableName: string
  readonly attributes: Readonly<Record<string, AttributeDeclaration>>
  readonly draftAndPublish: boolean
  readonly localized: boolean
  /** The path of the declaration; of a built-in type, the path of its additional attributes. */
  readonly path: Path
}

export interface DeclaredType extends DeclaredBase {
  readonly holder: 'content-type'
  readonly builtIn: boolean
  readonly kind: 'collection' | 'single'
  readonly pluralApiId: string
  readonly indexes: readonly (readonly string[] | TextIndex)[]
  /** null: a built-in type. */
  readonly search: SearchDeclaration | null
}

/** Components have no drafts or locales of their own: those of the owner apply. */
export interface DeclaredComponent extends DeclaredBase {
  readonly holder: 'component'
  readonly category: string
}

export function toDeclarations(settings: Settings): Declarations {
  const own = Object.entries(settings.contentTypes).map(([key, declaration]) => toType(key, declaration))
  const builtIn = BUILT_IN_TYPES.map(type => toBuiltIn(type, settings))
  const components = Object.entries(settings.components).map(([uid, declaration]) =>
    toComponent(uid, declaration),
  )
  const types = [...own, ...builtIn]
  return {
    settings,
    types,
    components,
    holders: [...types, ...components],
    targets: new Map(types.flatMap(type => targetNames(type).map(name => [name, type]))),
    componentsByUid: new Map(components.map(component => [component.uid, component])),
  }
}

/** The locale type is found by its uid only, because a project may declare its own `locale`. */
const targetNames = (type: DeclaredType): readonly string[] =>
  type.builtIn && type.key === 'locale' ? [type.uid] : [type.key, type.uid]

function toType(key: string, declaration: ContentTypeDeclaration): DeclaredType {
  const pluralApiId = declaration.pluralApiId ?? toPlural(key)
  return {
    ...declaration,
    holder: 'content-type',
    uid: `api::${key}.${key}`,
    key,
    builtIn: false,
    pluralApiId,
    displayName: declaration.displayName ?? toTitle(key),
    tableName: declaration.tableName ?? toSnakeCase(pluralApiId),
    path: ['contentTypes', key],
  }
}

function toBuiltIn(
  { key, uid, pluralApiId, attributes }: BuiltInDeclaration,
  settings: Settings,
): DeclaredType {
  return {
    holder: 'content-type',
    uid,
    key,
    builtIn: true,
    kind: 'collection',
    pluralApiId,
    displayName: toTitle(key),
    draftAndPublish: false,
    localized: false,
    tableName: `plinth_${pluralApiId}`,
    indexes: [],
    search: null,
    attributes: key === 'user' ? { ...attributes, ...settings.user.attributes } : attributes,
    path: key === 'user' ? ['user'] : [],
  }
}

function toComponent(uid: string, declaration: ComponentDeclaration): DeclaredComponent {
  const [category = '', key = ''] = uid.split('.')
  return {
    ...declaration,
    holder: 'component',
    uid,
    category,
    key,
    displayName: declaration.displayName ?? toTitle(key),
    draftAndPublish: false,
    localized: false,
    tableName: componentTableName(uid),
    path: ['components', uid],
  }
}

export const componentTableName = (uid: string): string => `components_${toSnakeCase(uid)}`

export const attributePath = (holder: DeclaredHolder, attribute: string, ...rest: Path): Path => [
  ...holder.path,
  'attributes',
  attribute,
  ...rest,
]

/** Looks up an attribute by a name from the file, which may be the name of an inherited property such as `constructor`. */
export const attributeNamed = (
  { attributes }: DeclaredHolder,
  name: string,
): AttributeDeclaration | undefined => (Object.hasOwn(attributes, name) ? attributes[name] : undefined)

/** The name of an attribute in messages: `article.author`, `shared.seo.image`. */
export const attributeName = (holder: DeclaredHolder, attribute: string): string =>
  `${holder.holder === 'content-type' ? holder.key : holder.uid}.${attribute}`

/** The name of a content-type or component in messages. */
export const holderName = (holder: DeclaredHolder): string =>
  holder.holder === 'content-type'
    ? `${holder.builtIn ? 'built-in ' : ''}content-type \`${holder.key}\``
    : `component \`${holder.uid}\``

export interface DeclaredAttribute {
  readonly holder: DeclaredHolder
  readonly name: string
  readonly declaration: AttributeDeclaration
}

export function* declaredAttributes(declarations: Declarations): Generator<DeclaredAttribute> {
  for (const holder of declarations.holders) {
    for (const [name, declaration] of Object.entries(holder.attributes)) yield { holder, name, declaration }
  }
}
