import type { SafePattern } from '../project/pattern.ts'
import type { ScalarType } from '../project/settings/declarations.ts'
import type { MediaKind, RelationKind } from '../project/settings/settings.ts'

/**
 * The compiled declarations of a project: every name resolved, every default applied, both sides of every relation
 * connected. Frozen; built once and only read by requests.
 * Content-types refer to each other directly, so the graph is cyclic: do not serialise it.
 */
export interface Model {
  /** By uid (`api::article.article`, `plugin::upload.file`): the project's in file order, then the built-in ones. */
  readonly contentTypes: ReadonlyMap<string, ContentType>
  /** By uid (`shared.seo`). */
  readonly components: ReadonlyMap<string, Component>
  readonly builtIn: BuiltInTypes
  readonly locales: readonly Locale[]
  readonly defaultLocale: string
}

export interface Locale {
  readonly code: string
  readonly name: string
  /** The former code. Its rows are rewritten. */
  readonly renamedFrom?: string
}

export interface BuiltInTypes {
  readonly user: ContentType
  readonly role: ContentType
  readonly file: ContentType
  readonly locale: ContentType
}

/** A content-type or a component: both have attributes. */
export type Holder = ContentType | Component

export interface ContentType {
  readonly holder: 'content-type'
  readonly uid: string
  /** The key in project.yaml, which is the singular API ID; `user`, `role`, `file`, `locale` for built-in ones. */
  readonly key: string
  readonly builtIn: boolean
  readonly kind: 'collection' | 'single'
  readonly pluralApiId: string
  readonly displayName: string
  readonly description?: string
  /** The former key: its tables are renamed, not dropped. */
  readonly renamedFrom?: string
  readonly draftAndPublish: boolean
  readonly localized: boolean
  /** The base of its table names. */
  readonly tableName: string
  readonly indexes: readonly (readonly string[])[]
  /** The attributes with an index of parts of their texts. */
  readonly textIndexes: readonly string[]
  /** Full-text search (docs/search.md); null: none. */
  readonly search: DeclaredSearch | null
  /** id and documentId, the declared attributes in file order, timestamps, locale, localizations. */
  readonly attributes: ReadonlyMap<string, Attribute>
}

export interface DeclaredSearch {
  readonly fields: readonly { readonly path: string; readonly weight: 'A' | 'B' | 'C' | 'D' }[]
  /** Text search configuration by locale; other locales have the one of their language. */
  readonly languages: Readonly<Record<string, string>>
  /** A search that finds nothing is repeated with similar words. */
  readonly typos: boolean
}

export interface Component {
  readonly holder: 'component'
  /** `category.name` */
  readonly uid: string
  readonly category: string
  readonly key: string
  readonly displayName: string
  readonly description?: string
  /** The former uid. */
  readonly renamedFrom?: string
  readonly tableName: string
  /** id, then the declared attributes in file order. */
  readonly attributes: ReadonlyMap<string, Attribute>
}

export type Attribute = ScalarAttribute | LinkAttribute | ComponentAttribute | ZoneAttribute | MorphAttribute

export interface AttributeBase {
  readonly name: string
  readonly required: boolean
  /** No caller may read, filter or sort by it. */
  readonly private: boolean
  /** false: no request may write it. */
  readonly writable: boolean
  /** Each locale has its own value. Always false on unlocalised types and on components (their owner decides). */
  readonly localized: boolean
  /** Added by Plinth, not declared: id, documentId, timestamps, locale, localizations. */
  readonly system: boolean
  /** The former name. */
  readonly renamedFrom?: string
}

/** The types of compiled scalar attributes: the declared ones and those of system attributes. */
export type ValueType = ScalarType | 'id' | 'documentId' | 'locale'

export interface ScalarAttribute extends AttributeBase {
  readonly kind: 'scalar'
  readonly type: ValueType
  readonly unique: boolean
  /** undefined: none. */
  readonly default?: unknown
  readonly min?: number | string
  readonly max?: number | string
  readonly minLength?: number
  readonly maxLength?: number
  readonly regex?: SafePattern
  /** Texts are stored in lower case (JavaScript's toLowerCase). */
  readonly lowerCase?: true
  /** enumeration: its values in order. */
  readonly values?: readonly string[]
  /** enumeration: values that were renamed, old to new. */
  readonly renamedValues?: ReadonlyMap<string, string>
  /** The value for existing rows when the attribute is added or becomes required. */
  readonly backfill?: unknown
  /** uid: the attribute that it is generated from, and whether it is generated if omitted. */
  readonly targetField?: string
  readonly generate?: boolean
}

/** A link to other documents: a relation, a media attribute, or the other locales of the same document. */
export type LinkAttribute = RelationAttribute | MediaAttribute | LocalizationsAttribute

interface LinkBase extends AttributeBase {
  readonly target: ContentType
  /** Returns a list. */
  readonly many: boolean
}

export interface RelationAttribute extends LinkBase {
  readonly kind: 'relation'
  readonly relation: RelationKind
  /**
   * `owner`: this side stores the link (also every one-way relation);
   * `inverse`: it is read from the `counterpart`, which stores it.
   */
  readonly side: 'owner' | 'inverse'
  /** The other side of a two-way relation; null for a one-way one. */
  readonly counterpart: RelationAttribute | null
}

export interface MediaAttribute extends LinkBase {
  readonly kind: 'media'
  readonly allowedTypes: readonly MediaKind[]
}

export interface LocalizationsAttribute extends LinkBase {
  readonly kind: 'localizations'
}

export interface ComponentAttribute extends AttributeBase {
  readonly kind: 'component'
  readonly component: Component
  readonly repeatable: boolean
  readonly min?: number
  readonly max?: number
}

export interface ZoneAttribute extends AttributeBase {
  readonly kind: 'zone'
  readonly components: readonly Component[]
  readonly min?: number
  readonly max?: number
}

/** The inverse of all media attributes: the documents and components that a file is used in. */
export interface MorphAttribute extends AttributeBase {
  readonly kind: 'morph'
  readonly types: readonly ContentType[]
}

export const isLink = (attribute: Attribute): attribute is LinkAttribute =>
  attribute.kind === 'relation' || attribute.kind === 'media' || attribute.kind === 'localizations'

/** The components that an attribute holds, alone, in a list or in a dynamic zone. */
export function componentsOf(attribute: Attribute): readonly Component[] {
  if (attribute.kind === 'component') return [attribute.component]
  return attribute.kind === 'zone' ? attribute.components : []
}

/** The API ID in the paths of a content-type: the plural one of a collection, the singular one of a single type. */
export const apiIdOf = ({
  kind,
  key,
  pluralApiId,
}: Pick<ContentType, 'kind' | 'key' | 'pluralApiId'>): string => (kind === 'single' ? key : pluralApiId)
