import type { Attribute, Component, ContentType, Holder } from './model.ts'

/**
 * Where the model's values lie in PostgreSQL. Names only: what reads (plan/) and what creates tables
 * (database/) both start from here, so that they cannot disagree. See docs/storage.md.
 *
 * A document's versions are rows, one a (document, locale, status). `key` names the document inside the
 * database: the row's own id on plain types, a column shared by all versions otherwise.
 */
export interface Storage {
  table(type: ContentType): TypeTable
  componentTable(component: Component): ComponentTable
  /** The column of a scalar attribute. */
  column(holder: Holder, attribute: string): string
  /** How a link is stored, on the side that owns it. Not for inverse relations and localizations. */
  link(holder: Holder, attribute: string): LinkStorage
  /** Every table that the model needs, in an order in which they can be created. */
  readonly tables: readonly Table[]
}

/** Columns that every table of a content-type has, or has for versions. */
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
 * A component's rows, whoever owns them. Key (id, status): a component keeps its id between draft and published.
 * The owner is named by `owner` (`article.seo`: holder's key or uid, a dot, the attribute), by its key
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

export type LinkStorage = ColumnLink | TableLink

/** A to-one link: columns on the owner's own row. */
export interface ColumnLink {
  readonly kind: 'column'
  /** The target's key; where the owner has no status but the target has one: of its published version. */
  readonly key: string
  /** The key of the slot for the target's draft; only where the owner has no status and the target has one. */
  readonly draftKey: string | null
  /** The target's locale; only where the owner has none and the target has one. */
  readonly locale: string | null
  readonly draftLocale: string | null
  /** The owner's place in the inverse's list; only where there is an inverse and it is a list. */
  readonly inversePosition: string | null
}

/** A to-many link: rows of a table of its own. */
export interface TableLink {
  readonly kind: 'table'
  readonly table: string
  /**
   * How a row names its owner: [column of the link table, column of the owner's table] pairs.
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
 * What the rows of a holder's table mean: recorded beside the table, so that a later model can tell what has
 * become of drafts, locales, links and components, which the columns alone do not say.
 */
export interface SchemaShape {
  readonly holder: Holder['holder']
  readonly uid: string
  /** The uid that it had before. */
  readonly renamedFrom?: string
  /** Whether each version is a row of a status. */
  readonly drafts: boolean
  /** The default locale, where each version is a row of a locale. */
  readonly locale: string | null
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
  /** A target has one owner: two-way one-to-one. */
  readonly exclusive: boolean
  /** The other side's attribute, with the name that it had before. */
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
  /** What its components' rows call their owner. */
  readonly owner: string
  /** Uids. */
  readonly components: readonly string[]
  readonly many: boolean
}

/** A scalar that is declared. */
export interface ValueShape extends AttributeShapeBase {
  readonly kind: 'value'
  readonly column: string
}

/** A table as it ought to be. */
export interface Table {
  readonly name: string
  /** For messages: the content-type, component or attribute that it serves. */
  readonly serves: string
  /** The name that it had before: it is renamed where that table is there and this one is not. */
  readonly renamedFrom?: string
  readonly columns: readonly Column[]
  readonly primaryKey: readonly string[]
  readonly indexes: readonly Index[]
  readonly checks: readonly Check[]
  readonly foreignKeys: readonly ForeignKey[]
  /** Whether answers depend on it: its version moves with every write. */
  readonly versioned: boolean
  /** Of a content-type's or a component's own table. */
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

export interface Column {
  readonly name: string
  readonly type: ColumnType
  readonly nullable: boolean
  /** `identity`: numbered by the database. */
  readonly generated: 'identity' | null
  /** A constant, as the driver would send it; undefined: none. */
  readonly default?: string | number | boolean
  /** A constant that rows get where they hold nothing, when the column is added or comes to be required. */
  readonly backfill?: string | number | boolean
  /** The name that it had before: it is renamed where that column is there and this one is not. */
  readonly renamedFrom?: string
  /** Old value → new: values of an enumeration, locales, owners of components. */
  readonly renamedValues?: ReadonlyMap<string, string>
  /** The values that mean something; rows with others belong to what left the project. */
  readonly only?: readonly string[]
  /** For messages and renames: the attribute that it holds, if one. */
  readonly attribute?: Attribute
}

export interface Index {
  readonly name: string
  readonly columns: readonly string[]
  readonly unique: boolean
  /** Rows that it covers: those of one status, or those whose column is not null. */
  readonly where:
    | { readonly column: string; readonly equals: string }
    | { readonly column: string; readonly notNull: true }
    | null
}

/** A row may stand only if the column is one of the values, or is not null, where `onlyWhen` holds. */
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

/** What a component's row calls its owner: `article.seo` below a content-type, `shared.seo.image` below a component. */
export const ownerName = (holder: Holder, attribute: string): string =>
  `${holder.holder === 'content-type' ? holder.key : holder.uid}.${attribute}`
