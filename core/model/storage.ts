import type { Attribute, Component, ContentType, Holder } from './model.ts'

/**
 * The tables and columns of the model in PostgreSQL. Reads (plan/) and migrations (migrate/) both use it, so they cannot
 * disagree. See docs/storage.md.
 *
 * A document has one row for each version (document, locale, status). `key` identifies the document inside the
 * database: the row's id on plain types, otherwise a column that all versions share.
 */
export interface Storage {
  table(type: ContentType): TypeTable
  componentTable(component: Component): ComponentTable
  /** The column of a scalar attribute. */
  column(holder: Holder, attribute: string): string
  /** The storage of a link on the side that owns it. Throws for inverse relations and localizations. */
  link(holder: Holder, attribute: string): LinkStorage
  /** The vectors of the full-text search of a type; null: it has no `search:`. */
  search(type: ContentType): TypeSearch | null
  /** Every table of the model, in creation order. */
  readonly tables: readonly Table[]
}

/** The columns of a content-type's table that belong to no attribute. */
export interface TypeTable {
  readonly name: string
  readonly id: 'id'
  /** `id` on plain types, else `document_key`. */
  readonly key: 'id' | 'document_key'
  readonly documentId: 'document_id'
  /** Only with draft & publish: 'draft' or 'published'. */
  readonly status: 'status' | null
  /** Only on localized types. */
  readonly locale: 'locale' | null
}

/**
 * A component's rows for all owners. Key (id, status): a component has the same id in draft and published versions.
 * The owner is identified by `owner` (`article.seo`: holder's key or uid, a dot, the attribute), by its key
 * (a content-type's document key, or the id of the component that it is nested in), by the status of the
 * owner's row ('published' on types without drafts) and, only below a localized attribute, by locale.
 */
export interface ComponentTable {
  readonly name: string
  readonly id: 'id'
  readonly status: 'status'
  readonly owner: 'owner'
  readonly ownerKey: 'owner_key'
  readonly locale: 'locale'
  readonly position: 'position'
}

/** The full-text search of a type (docs/search.md). */
export interface TypeSearch {
  /** The one with all paths first, then by size. */
  readonly vectors: readonly SearchVector[]
  /** Text search configuration by locale; the first is the default locale's, which also applies to types without locales. */
  readonly configurations: ReadonlyMap<string, string>
  /** The table of the words of the texts, in which typing errors are corrected; null: they are not. */
  readonly words: string | null
}

/** A tsvector column: the searchable text of some of the declared paths. */
export interface SearchVector {
  readonly column: string
  readonly paths: ReadonlySet<string>
  readonly texts: readonly SearchText[]
}

/** One text column of a vector. */
export interface SearchText {
  readonly column: string
  readonly weight: 'A' | 'B' | 'C' | 'D'
  /** The column is jsonb of the attribute type `blocks`. */
  readonly blocks: boolean
  /** The component table that has the column, and the owner name in its rows; null: the type's own table. */
  readonly component: { readonly table: string; readonly owner: string } | null
}

/** A trigger of the full-text search, with a function of the same name. */
export type SearchTrigger = FillTrigger | RefillTrigger

interface SearchTriggerBase {
  readonly name: string
  /** The content-type's table, and its columns. */
  readonly table: string
  readonly key: string
  readonly status: string | null
  readonly locale: string | null
}

/** Fills the vectors of a written row. */
export interface FillTrigger extends SearchTriggerBase, TypeSearch {
  readonly kind: 'fill'
}

/** On a component's table: fills the vectors of the owners of written rows again. */
export interface RefillTrigger extends SearchTriggerBase {
  readonly kind: 'refill'
  /** Owner names. */
  readonly owners: readonly string[]
  /** The component's searched columns. */
  readonly columns: readonly string[]
  /** Setting it makes the fill trigger fill all vectors of the row. */
  readonly vector: string
}

export type LinkStorage = ColumnLink | TableLink

/** A to-one link: columns on the owner's own row. */
export interface ColumnLink {
  readonly kind: 'column'
  /** The target's key. If only the target has drafts: the key of its published version. */
  readonly key: string
  /** The key of the target's draft; only if the target has drafts and the owner does not. */
  readonly draftKey: string | null
  /** The target's locale; only if the target is localized and the owner is not. */
  readonly locale: string | null
  readonly draftLocale: string | null
  /** The owner's position in the inverse list; only if the inverse is a list. */
  readonly inversePosition: string | null
}

/** A to-many link: rows of a link table. */
export interface TableLink {
  readonly kind: 'table'
  readonly table: string
  /**
   * The owner of a row: [column of the link table, column of the owner's table] pairs.
   * [owner_id, id] for a content-type's own links; [owner_key, key] and [owner_status, status] for shared media
   * lists of localized types; [owner_id, id] and [owner_status, status] for components.
   */
  readonly owner: readonly (readonly [link: string, owner: string])[]
  readonly targetKey: 'target_key'
  /** Only where the owner may have no status and the target has one. */
  readonly targetStatus: 'target_status' | null
  /** Only where the owner may have no locale and the target has one. */
  readonly targetLocale: 'target_locale' | null
  readonly position: 'position'
  readonly inversePosition: 'inverse_position' | null
}

/**
 * The meaning of the rows of a holder's table. It is recorded with the schema, so that a later migration can detect
 * changes of drafts, locales, links and components, which the columns do not show.
 */
export interface SchemaShape {
  readonly holder: Holder['holder']
  readonly uid: string
  /** The former uid. */
  readonly renamedFrom?: string
  /** Only of content-types: true if it has one document. Earlier versions of Plinth did not record it. */
  readonly single?: boolean
  /** True if the type has a row for each status. */
  readonly drafts: boolean
  /** The default locale if the type has a row for each locale; otherwise null. */
  readonly locale: string | null
  /** Only of content-types: the codes of the default locale, the former one first if it is renamed. */
  readonly defaultLocale?: readonly string[]
  readonly attributes: readonly AttributeShape[]
}

export type AttributeShape = LinkShape | InverseShape | ComponentsShape | ValueShape

interface AttributeShapeBase {
  readonly name: string
  readonly renamedFrom?: string
  /** Each locale has its own; false on components, whose owners decide. */
  readonly localized: boolean
}

/** A link that the holder stores. */
export interface LinkShape extends AttributeShapeBase {
  readonly kind: 'link'
  /** Uid. */
  readonly target: string
  readonly link: LinkStorage
  /** A target has at most one owner: two-way one-to-one. */
  readonly exclusive: boolean
  /** The other side's attribute, with its former name. */
  readonly counterpart: { readonly name: string; readonly renamedFrom?: string } | null
}

/** A link that the other side stores. */
export interface InverseShape extends AttributeShapeBase {
  readonly kind: 'inverse'
  /** Uid. */
  readonly target: string
  /** The attribute there. */
  readonly counterpart: string
}

/** A component, a list of them, or a dynamic zone. */
export interface ComponentsShape extends AttributeShapeBase {
  readonly kind: 'parts'
  /** The owner name in the rows of its components. */
  readonly owner: string
  /** Uids. */
  readonly components: readonly string[]
  readonly many: boolean
}

/** A declared scalar. */
export interface ValueShape extends AttributeShapeBase {
  readonly kind: 'value'
  readonly column: string
  /** Absent in records of versions that did not know it. */
  readonly unique?: boolean
}

/** The desired state of a table. */
export interface Table {
  readonly name: string
  /** For messages: the content-type, component or attribute that it serves. */
  readonly serves: string
  /** The former name: the table is renamed if it exists and this one does not. */
  readonly renamedFrom?: string
  readonly columns: readonly Column[]
  readonly primaryKey: readonly string[]
  readonly indexes: readonly Index[]
  /** Unique values that do not fit into an index: only the check before a write keeps them apart. None of these exists. */
  readonly impossibleIndexes?: readonly Index[]
  readonly checks: readonly Check[]
  readonly foreignKeys: readonly ForeignKey[]
  /** True if responses depend on it: every write increments its version. */
  readonly versioned: boolean
  /** Only tables of content-types with `search:` and of their components. */
  readonly searchTriggers?: readonly SearchTrigger[]
  /** Only tables of content-types and components. */
  readonly shape?: SchemaShape
}

export type ColumnType =
  | 'integer'
  | 'bigint'
  | 'double precision'
  | 'numeric(10,2)'
  | 'boolean'
  | 'varchar(255)'
  | 'text'
  | 'jsonb'
  | 'date'
  | 'time(3)'
  | 'timestamptz(3)'
  | 'tsvector'

export interface Column {
  readonly name: string
  readonly type: ColumnType
  readonly nullable: boolean
  /** `identity`: generated by the database. */
  readonly generated: 'identity' | null
  /** A constant in the driver's form; undefined: none. */
  readonly default?: string | number | boolean
  /** The constant for rows with NULL when the column is added or becomes required. */
  readonly backfill?: string | number | boolean
  /** The former name: the column is renamed if it exists and this one does not. */
  readonly renamedFrom?: string
  /** Renamed values, old → new: enumeration values, locales, owners of components. */
  readonly renamedValues?: ReadonlyMap<string, string>
  /** The valid values. Rows with other values belong to something that was removed from the project. */
  readonly only?: readonly string[]
  /** For messages and renames: its attribute, if it has one. */
  readonly attribute?: Attribute
}

/** The columns that writers fill. Triggers fill the vectors of the full-text search. */
export const writtenColumns = (columns: readonly Column[]): readonly Column[] =>
  columns.filter(({ type }) => type !== 'tsvector')

export interface Index {
  readonly name: string
  readonly columns: readonly string[]
  readonly unique: boolean
  /** The rows of a partial index: those of one status, or those whose column is not null. */
  readonly where:
    | { readonly column: string; readonly equals: string }
    | { readonly column: string; readonly notNull: true }
    | null
  /** Absent: btree. */
  readonly method?: 'gin'
  /** An index of the trigrams of one column instead of `columns`, which is empty. */
  readonly trigrams?: TrigramColumn
}

export interface TrigramColumn {
  readonly column: string
  /** The column is text, so its own trigrams are indexed in addition to those of its text in small letters. */
  readonly isText: boolean
}

/** For rows that meet `onlyWhen`, the column must be one of the values or not null. */
export interface Check {
  readonly name: string
  readonly column: string
  readonly rule: { readonly oneOf: readonly string[] } | { readonly notNull: true }
  readonly onlyWhen: { readonly column: string; readonly equals: string } | null
}

export interface ForeignKey {
  readonly name: string
  readonly columns: readonly string[]
  readonly references: { readonly table: string; readonly columns: readonly string[] }
  readonly onDelete: 'cascade' | 'set null'
}

/** The owner name in a component's row: `article.seo` below a content-type, `shared.seo.image` below a component. */
export const ownerName = (holder: Holder, attribute: string): string =>
  `${holder.holder === 'content-type' ? holder.key : holder.uid}.${attribute}`
