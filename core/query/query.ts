import type {
  Component,
  ComponentAttribute,
  ContentType,
  LinkAttribute,
  ScalarAttribute,
  ZoneAttribute,
} from '../model/model.ts'
import type { Operator } from './operators.ts'

/**
 * A read of documents of one content-type, as REST and GraphQL both parse it: names are resolved to
 * attributes and values have their attribute's type, but nothing is said of who asks.
 * Plain data: nodes are told apart by `kind`, rewriting makes new ones.
 */
export interface Query {
  readonly kind: 'query'
  readonly type: ContentType
  /**
   * One document (by its id; a single type's only one where null), or a list. `recordId`: the id of any row of the
   * document, which names its locale too; neither of the others counts then.
   */
  readonly take:
    | { readonly kind: 'one'; readonly documentId: string | null; readonly recordId?: number }
    | { readonly kind: 'many'; readonly page: Page; readonly total: boolean; readonly after?: PageCursor }
  readonly status: VersionChoice
  readonly locale: LocaleChoice
  readonly selection: Selection
  readonly filter: Filter | null
  /** `_q` */
  readonly search: Search | null
  /** `publicationFilter`; null also on types without drafts. */
  readonly publication: PublicationFilter | null
  /** Which versions `publication` may tell of and `latest` choose from: set by access alone (parsers leave it out); absent: all. */
  readonly visibleVersions?: VisibleVersions
  /** In order; ties are broken by id. */
  readonly sort: readonly Sort[]
}

/**
 * Text to be found, whatever its case, in any of the attributes. Parsers name every text, number and uid
 * attribute and the documentId; access leaves those that the caller may read.
 */
export interface Search {
  readonly text: string
  readonly attributes: readonly ScalarAttribute[]
}

export const STATUSES = ['published', 'draft'] as const
export type Status = (typeof STATUSES)[number]

/** Which version of each document answers; `latest`: the published one, or where there is none the draft (documents.md 17). */
export type VersionChoice = Status | 'latest'

/**
 * contract/rest.md 10: documents by how their draft and published versions stand to one another, in the row's
 * own locale or (`…-document`) in any.
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

/** The condition that versions of each status meet which the caller sees; null: he sees all of them. */
export type VisibleVersions = { readonly [Each in Status]: Filter | null }

/** Of types without i18n: `all`. */
export type LocaleChoice =
  | { readonly kind: 'all' }
  | { readonly kind: 'these'; readonly codes: readonly string[] }

/**
 * Where a page by cursor begins: `first`, or behind the row that has these values of the sorts (null: none) and this
 * id. Its `start` is 0. The total is that of the whole list. Absent: a page by number.
 */
export type PageCursor = 'first' | { readonly keys: readonly (Value | null)[]; readonly id: number }

/** Both count documents. */
export interface Page {
  readonly start: number
  readonly limit: number
}

export interface Selection {
  readonly fields: readonly ScalarAttribute[]
  /** The request named its fields itself: one that the caller may not read is refused, else it is left out. */
  readonly named: boolean
  readonly populate: readonly Populate[]
  /**
   * Fields that the project's own code works with, which are in no answer: not the caller's to be refused. Only
   * GraphQL sets it, for fields with resolvers of an extension.
   */
  readonly internalFields?: ReadonlySet<ScalarAttribute>
}

export type Populate = LinkPopulate | ComponentPopulate | ZonePopulate

/**
 * How a request came to ask for a populate. `named`: by its own name, so that an attribute that the caller may
 * not read is refused; `passed`: only on the way to others (`a` in `a.b`), so that it is left out where none of
 * those is left (contract/rest.md 8); `all`: by `*`, so that whatever is not for the caller is left out.
 */
export type PopulateOrigin = 'named' | 'passed' | 'all'

interface PopulateBase {
  /** The key in the answer. */
  readonly as: string
  readonly origin: PopulateOrigin
  /** The number of them instead of them. */
  readonly count: boolean
}

export interface LinkPopulate extends PopulateBase {
  readonly kind: 'link'
  readonly attribute: LinkAttribute
  /** Absent: as the row that it starts from; from the latest of a document a published one leads to published ones. */
  readonly status?: VersionChoice
  readonly scope: LinkScope | null
  /**
   * The project lets the caller over this link without `find` on its target: to all of it, or (`kept`) with his own
   * conditions where he has `find`. Only GraphQL sets it, for what resolversConfig opens.
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
  /** Only these are answered. */
  readonly components: readonly ZonePart[]
}

/** A component of a zone, as it is answered. */
export interface ZonePart {
  readonly component: Component
  readonly selection: Selection
  /** Which of its entries; absent: all of them. */
  readonly filter?: Filter
}

/**
 * What the caller sees at the end of a link: set by access alone (parsers leave null). `status` where it
 * differs from the one asked for, because drafts of the target are not for the caller; `where` his row condition,
 * `sights` that of each status where the latest versions answer.
 */
export interface LinkScope {
  readonly status: Status | null
  readonly where: Filter | null
  readonly visibleVersions?: VisibleVersions
}

/**
 * Three-valued logic as in SQL: a comparison with an absent value is unknown, and only true rows match.
 * `related` holds where some row at the other end meets its filter; where there is none, an absent row
 * (every value null) is tried instead, and a negation passes through to the row (contract/rest.md 7).
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
  /** As many as the operator takes (operators.ts), each of the attribute's type. */
  readonly values: readonly Value[]
}

export interface RelatedFilter {
  readonly kind: 'related'
  readonly attribute: LinkAttribute | ComponentAttribute
  /** Access alone sets it; null for components. */
  readonly scope: LinkScope | null
  readonly filter: Filter
}

/** A value in the form that PostgreSQL takes for its attribute's type: numbers, booleans, else text. */
export type Value = string | number | boolean

export interface Sort {
  /** The way to the attribute over links and components; empty for the type's own. */
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
 * A query narrowed to what its caller may see. Only access/ makes one, and plan/ takes nothing else:
 * there is no other way from a request to SQL.
 */
export type RestrictedQuery = Query & { readonly [restricted]: true }
