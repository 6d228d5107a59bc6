import type { ContentType, Holder } from '../model/model.ts'
import { ownerName, type Storage } from '../model/storage.ts'
import type { Page, VersionChoice } from '../query/query.ts'
import { column, sqlConstant } from '../sql/build.ts'
import type { Alias } from '../sql/identifier.ts'
import type { Expression } from '../sql/nodes.ts'
import type { AnswerLayout } from './layout.ts'

/** Shared state of one plan. `alias()` returns a new alias on each call. */
export interface PlanContext {
  readonly storage: Storage
  /** The locale that an inverse to-one relation prefers; `defaultLocale` comes second. */
  readonly locale: string
  readonly defaultLocale: string
  readonly shape: AnswerShape
  alias(): Alias
  /** The page whose size is part of the text (fixedSizePage in rows.ts); null: the sizes of all pages are parameters. */
  readonly fixedSizePage: Page | null
  /** The place of the first bound value of this part of the query; null: its values are fixed. */
  parameterPlace(part: object): number | null
}

/**
 * The shape of documents: attributes next to the id, nested under `attributes`
 * (reference/rest.md#16-response-format-v4-and-query-parsing), nested as Strapi 4 itself did, or a layout.
 */
export type AnswerShape = 'flat' | 'v4' | 'strapi4' | AnswerLayout

/**
 * A row of the plan: a version of a document, or a component of one. Joins along its links need its key and the
 * coordinates that its links do not store (reference/documents.md#6-what-a-link-stores, reference/documents.md#8-reading).
 */
export interface Row {
  readonly alias: Alias
  readonly holder: Holder
  /** The content-type whose drafts and locales apply: of a component, its owner's. */
  readonly root: ContentType
  /** The requested version. On types without drafts it applies to the targets of links. */
  readonly status: VersionChoice
  /** The document's key, or the component's id. */
  readonly key: Expression
  /** The status of the row itself, by which its components are found. */
  readonly ownStatus: Expression
  /** The row's locale; null on types without locales. */
  readonly locale: Expression | null
  /** A bound on the row's id. It also applies to columns that equal the id. */
  readonly bound?: IdBound
}

export interface IdBound {
  readonly operator: '>' | '>=' | '<='
  readonly value: Expression
}

export function typeRow(type: ContentType, alias: Alias, status: VersionChoice, storage: Storage): Row {
  const table = storage.table(type)
  return {
    alias,
    holder: type,
    root: type,
    // Links of a type without drafts resolve to published versions.
    status: status === 'latest' && table.status === null ? 'published' : status,
    key: column(alias, table.key),
    ownStatus: table.status === null ? sqlConstant('published') : column(alias, table.status),
    locale: table.locale === null ? null : column(alias, table.locale),
  }
}

export function componentRow(owner: Row, holder: Holder, alias: Alias): Row {
  return {
    alias,
    holder,
    root: owner.root,
    status: owner.status,
    key: column(alias, 'id'),
    ownStatus: column(alias, 'status'),
    locale: owner.locale,
  }
}

export const ownerConstant = (row: Row, attribute: string): Expression =>
  sqlConstant(ownerName(row.holder, attribute))
