import type { ContentType, Holder } from '../model/model.ts'
import { ownerName, type Storage } from '../model/storage.ts'
import type { Page, VersionChoice } from '../query/query.ts'
import { column, sqlConstant } from '../sql/build.ts'
import type { Alias } from '../sql/identifier.ts'
import type { Expression } from '../sql/nodes.ts'
import type { AnswerLayout } from './layout.ts'

/** What the whole plan knows; `alias()` answers a new alias each time. */
export interface PlanContext {
  readonly storage: Storage
  /** The locale that an inverse to-one prefers where it finds several; then the default one. */
  readonly locale: string
  readonly defaultLocale: string
  readonly shape: AnswerShape
  alias(): Alias
  /** The page whose size stands in the text (plan-hints.ts); null: those of all pages are values. */
  readonly fixedSizePage: Page | null
  /** Which of the values put in later is the first of this part of the query; null: its values are as they are. */
  parameterPlace(part: object): number | null
}

/** How documents lie in the answer: attributes beside the id, or nested under `attributes` (contract/rest.md 16), or as they are laid out. */
export type AnswerShape = 'flat' | 'v4' | AnswerLayout

/**
 * A bound row: a version of a document, or a component that belongs to one. What follows a link from it needs
 * its key, and the coordinates that its links leave out (documents.md 6 and 8).
 */
export interface Row {
  readonly alias: Alias
  readonly holder: Holder
  /** The content-type whose drafts and locales the row takes part in: a component's is its owner's. */
  readonly root: ContentType
  /** The status that the reader asks for here; of types without drafts the one that he asks for beyond them. */
  readonly status: VersionChoice
  /** The document's key; a component's id. */
  readonly key: Expression
  /** The status that the row itself has, by which its components are found. */
  readonly ownStatus: Expression
  /** The locale of the row's document; null on types without. */
  readonly locale: Expression | null
  /** What is asked for of the row's id besides: it holds for what equals the id, too. */
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
    // What is neither leads on to what is published.
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
