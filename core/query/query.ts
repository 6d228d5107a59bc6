import type { MediaSource } from '../model/media-sources.ts'
import type {
  Component,
  ComponentAttribute,
  ContentType,
  Holder,
  LinkAttribute,
  MorphAttribute,
  ScalarAttribute,
  ZoneAttribute,
} from '../model/model.ts'
import type { Operator } from './operators.ts'

/**
 * A read of documents of one content-type, as REST and GraphQL both parse it: names are resolved to attributes and
 * values have their attribute's type, but the caller's permissions are not applied.
 * Immutable data: nodes are discriminated by `kind`, and rewriting creates new ones.
 */
export interface Query {
  readonly kind: 'query'
  readonly type: ContentType
  /**
   * One document (null: the only one of a single type), or a list. `recordId`: the id of any row of the document, which
   * also selects its locale; `documentId` and `locale` are ignored then.
   */
  readonly take:
    | { readonly kind: 'one'; readonly documentId: string | null; readonly recordId?: number }
    | { readonly kind: 'many'; readonly page: Page; readonly total: TotalChoice; readonly after?: PageCursor }
  readonly status: VersionChoice
  readonly locale: LocaleChoice
  readonly selection: Selection
  readonly filter: Filter | null
  /** `_q` */
  readonly search: Search | null
  /** `search`; absent: none. */
  readonly textSearch?: TextSearch
  /** `publicationFilter`; null also on types without drafts. */
  readonly publication: PublicationFilter | null
  /** The versions that `publication` and `latest` may consider. Only access sets it; absent: all. */
  readonly visibleVersions?: VisibleVersions
  /** In order; ties are broken by id. */
  readonly sort: readonly Sort[]
}

/**
 * A case-insensitive text search in any of the attributes. Parsers name every text, number and uid attribute and the
 * documentId; access keeps those that the caller may read.
 */
export interface Search {
  readonly text: string
  readonly attributes: readonly ScalarAttribute[]
}

/** A full-text search (docs/search.md). */
export interface TextSearch {
  readonly text: string
  /** Parsers name every declared path; access keeps those that the caller may read. */
  readonly paths: readonly string[]
  /** Attributes to return with marked matches. */
  readonly highlight: readonly ScalarAttribute[]
  /** Sorted by relevance instead of `sort`. */
  readonly byRank: boolean
}

export const STATUSES = ['published', 'draft'] as const
export type Status = (typeof STATUSES)[number]

/** The version of each document to return; `latest`: the published one, or the draft if there is none (reference/documents.md#17-graphql-nested-dialect). */
export type VersionChoice = Status | 'latest'

/**
 * reference/rest.md#10-drafts: filters documents by the relation of their draft and published versions, in the row's locale
 * or (`…-document`) in any.
 */
export const PUBLICATION_FILTERS = [
  'never-published',
  'has-published-version',
  'modified',
  'unmodified',
  'never-published-document',
  'has-published-version-document',
  'published-without-draft',
  'published-with-draft',
] as const
export type PublicationFilter = (typeof PUBLICATION_FILTERS)[number]

/** The condition on the versions of each status that the caller may read; null: all of them. */
export type VisibleVersions = { readonly [Each in Status]: Filter | null }

/** Whether a list has a total; `estimate`: of at most so many documents (ESTIMATE_LIMIT, core/plan/plan-query.ts). */
export type TotalChoice = boolean | 'estimate'

/** Types without i18n have `all`. */
export type LocaleChoice =
  | { readonly kind: 'all' }
  | { readonly kind: 'these'; readonly codes: readonly string[] }

/**
 * The start of a page in cursor pagination: `first`, or after the row with these sort keys and this id. The page's
 * `start` is 0. The total counts the whole list. Absent: pagination by number.
 */
export type PageCursor = 'first' | { readonly keys: readonly (Value | null)[]; readonly id: number }

/** Both in documents. */
export interface Page {
  readonly start: number
  readonly limit: number
}

export interface Selection {
  readonly fields: readonly ScalarAttribute[]
  /** The request names its fields, so an unreadable one is refused; otherwise unreadable fields are left out. */
  readonly named: boolean
  readonly populate: readonly Populate[]
  /**
   * Fields that project code reads and the answer omits, so they are not checked against the caller. Only GraphQL sets
   * it, for fields with resolvers of an extension.
   */
  readonly internalFields?: ReadonlySet<ScalarAttribute>
}

export type Populate = LinkPopulate | ComponentPopulate | ZonePopulate | MorphPopulate

/**
 * How a request populates an attribute. `named`: by its name; an unreadable attribute is refused. `passed`: as part of
 * a path (`a` in `a.b`); it is left out if nothing below it remains (reference/rest.md#8-populate). `all`: by `*`; an unreadable
 * attribute is left out.
 */
export type PopulateOrigin = 'named' | 'passed' | 'all'

interface PopulateBase {
  /** The key in the answer. */
  readonly as: string
  readonly origin: PopulateOrigin
  /** Return the number of entries instead of the entries. */
  readonly count: boolean
}

export interface LinkPopulate extends PopulateBase {
  readonly kind: 'link'
  readonly attribute: LinkAttribute
  /** Absent: the status of the source row; with `latest` a published source leads to published targets. */
  readonly status?: VersionChoice
  readonly scope: LinkScope | null
  /**
   * The project opens this link to callers without `find` on its target: `wholly`, or (`kept`) with the conditions of
   * the caller's own `find` if they have it. Only GraphQL sets it, from resolversConfig.
   */
  readonly bypassFind?: 'wholly' | 'kept'
  readonly selection: Selection
  readonly filter: Filter | null
  readonly sort: readonly Sort[]
  /** null: all of them. */
  readonly page: Page | null
}

export interface ComponentPopulate extends PopulateBase {
  readonly kind: 'component'
  readonly attribute: ComponentAttribute
  readonly selection: Selection
  readonly filter: Filter | null
  readonly sort: readonly Sort[]
  readonly page: Page | null
}

export interface ZonePopulate extends PopulateBase {
  readonly kind: 'zone'
  readonly attribute: ZoneAttribute
  /** Other components of the zone are left out. */
  readonly parts: readonly ShapePart<Component>[]
}

/** The part of a list of several shapes to return: the entries of one content-type or component. */
export interface ShapePart<Shape extends Holder = Holder> {
  readonly holder: Shape
  readonly selection: Selection
  /** Condition on its entries; absent: all of them. */
  readonly filter?: Filter
}

/** The documents and components that a file is used in. */
export interface MorphPopulate extends PopulateBase {
  readonly kind: 'morph'
  readonly attribute: MorphAttribute
  /** Other content-types and components are left out. */
  readonly parts: readonly MorphPart[]
  /** The maximum number of entries; null: all of them. */
  readonly page: Page | null
}

/**
 * `source`: one way from a document to the file. Only access sets it, together with the restriction on the documents;
 * a part without it has no rows.
 */
export interface MorphPart extends ShapePart {
  readonly source?: MediaSource
  readonly scope?: LinkScope | null
}

/**
 * The restriction on the targets of a link. Only access sets it (parsers leave null). `status`: replaces the requested
 * one if the caller may not read drafts of the target. `where`: the caller's condition on rows. `visibleVersions`: the
 * conditions for each status if the link resolves to `latest`.
 */
export interface LinkScope {
  readonly status: Status | null
  readonly where: Filter | null
  readonly visibleVersions?: VisibleVersions
}

/**
 * Three-valued logic as in SQL: a comparison with NULL is unknown, and only rows with true match.
 * `related` is true if some target row meets its filter. Without any target row the filter is evaluated on a row of
 * NULLs. A negation applies to the target row (reference/rest.md#7-filters).
 */
export type Filter = AndFilter | OrFilter | NotFilter | Comparison | RelatedFilter

export interface AndFilter {
  readonly kind: 'and'
  readonly filters: readonly Filter[]
}

export interface OrFilter {
  readonly kind: 'or'
  readonly filters: readonly Filter[]
}

export interface NotFilter {
  readonly kind: 'not'
  readonly filter: Filter
}

export interface Comparison {
  readonly kind: 'comparison'
  readonly attribute: ScalarAttribute
  readonly operator: Operator
  /** The number that the operator takes (operators.ts), each of the attribute's type. */
  readonly values: readonly Value[]
}

export interface RelatedFilter {
  readonly kind: 'related'
  readonly attribute: LinkAttribute | ComponentAttribute
  /** Access alone sets it; null for components. */
  readonly scope: LinkScope | null
  readonly filter: Filter
}

/** A value in the form that PostgreSQL accepts for its attribute's type: number, boolean or text. */
export type Value = string | number | boolean

export interface Sort {
  /** The path to the attribute over links and components; empty for the type's own attributes. */
  readonly path: readonly SortStep[]
  readonly attribute: ScalarAttribute
  readonly direction: 'asc' | 'desc'
}

export interface SortStep {
  readonly attribute: LinkAttribute | ComponentAttribute
  readonly scope: LinkScope | null
}

declare const restricted: unique symbol

/**
 * A query restricted to what its caller may read. Only access/ creates one and plan/ accepts nothing else, so no
 * request reaches SQL without it.
 */
export type RestrictedQuery = Query & { readonly [restricted]: true }
