import type { ComponentsShape, LinkShape, SchemaShape } from '../../model/storage.ts'
import type { Pair } from '../schema/pair-tables.ts'

/** A content-type or component whose rows are there, with what they meant and what they are to mean. */
export interface Holding {
  readonly pair: Pair
  readonly before: SchemaShape
  readonly after: SchemaShape
}

/** A link that takes over what was stored. */
export interface LinkMove {
  readonly owner: Holding
  readonly target: Holding
  readonly link: LinkShape
  readonly source: LinkSource
}

/** Where the links of a move were stored. */
export interface LinkSource {
  readonly holding: Holding
  readonly link: LinkShape
  /** Stored by what is now the target. */
  readonly swapped: boolean
}

/** The same attribute before and after; before null: it is new. */
export interface PartsMove {
  readonly owner: Holding
  readonly before: ComponentsShape | null
  readonly after: ComponentsShape
}

/** What all of a project's holdings come to. */
export interface Shift {
  readonly holdings: readonly Holding[]
  /** Content-types whose rows become others: drafts or locales come or go. */
  readonly versions: readonly Holding[]
  /** Links to be written anew. */
  readonly links: readonly LinkMove[]
  /** Links that lead to documents of another content-type than those stored under their name. */
  readonly misled: readonly {
    readonly owner: Holding
    readonly link: LinkShape
    readonly former: LinkShape
  }[]
  readonly parts: readonly PartsMove[]
  /** Uids of components whose rows become others. */
  readonly components: ReadonlySet<string>
}

/** The column that names a document's versions. */
export const keyOf = ({ drafts, locale }: SchemaShape): 'id' | 'document_key' =>
  drafts || locale !== null ? 'document_key' : 'id'

export const gainsDrafts = ({ before, after }: Holding): boolean => !before.drafts && after.drafts
export const losesDrafts = ({ before, after }: Holding): boolean => before.drafts && !after.drafts
export const gainsLocales = ({ before, after }: Holding): boolean =>
  before.locale === null && after.locale !== null
export const losesLocales = ({ before, after }: Holding): boolean =>
  before.locale !== null && after.locale === null

/** Whether documents may go with versions. */
export const losesDocuments = (holding: Holding): boolean => losesDrafts(holding) || losesLocales(holding)

export const changesVersions = ({ before, after }: Holding): boolean =>
  before.drafts !== after.drafts || (before.locale === null) !== (after.locale === null)

export const isComponent = ({ after }: Holding): boolean => after.holder === 'component'
