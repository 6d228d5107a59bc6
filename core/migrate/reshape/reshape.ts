import type { ComponentsShape, LinkShape, SchemaShape } from '../../model/storage.ts'
import type { TablePair } from '../schema/pair-tables.ts'

/** A content-type or component whose rows are there, with what they meant and what they are to mean. */
export interface TableState {
  readonly pair: TablePair
  readonly before: SchemaShape
  readonly after: SchemaShape
}

/** A link that takes over what was stored. */
export interface LinkMove {
  readonly owner: TableState
  readonly target: TableState
  readonly link: LinkShape
  readonly source: StoredLinks
}

/** The table and shape in which the links of a move were stored. */
export interface StoredLinks {
  readonly holding: TableState
  readonly link: LinkShape
  /** Stored by what is now the target. */
  readonly swapped: boolean
}

/** The same attribute before and after; before null: it is new. */
export interface ComponentsMove {
  readonly owner: TableState
  readonly before: ComponentsShape | null
  readonly after: ComponentsShape
}

/** The combined reshape of all tables of a project. */
export interface Reshape {
  readonly holdings: readonly TableState[]
  /** Content-types whose rows become others: drafts or locales come or go. */
  readonly versions: readonly TableState[]
  /** Links to rewrite. */
  readonly links: readonly LinkMove[]
  /** Links that lead to documents of another content-type than those stored under their name. */
  readonly retargeted: readonly {
    readonly owner: TableState
    readonly link: LinkShape
    readonly former: LinkShape
  }[]
  readonly parts: readonly ComponentsMove[]
  /** Uids of components whose rows become others. */
  readonly components: ReadonlySet<string>
}

/** The column that names a document's versions. */
export const versionKeyOf = ({ drafts, locale }: SchemaShape): 'id' | 'document_key' =>
  drafts || locale !== null ? 'document_key' : 'id'

export const gainsDrafts = ({ before, after }: TableState): boolean => !before.drafts && after.drafts
export const losesDrafts = ({ before, after }: TableState): boolean => before.drafts && !after.drafts
export const gainsLocales = ({ before, after }: TableState): boolean =>
  before.locale === null && after.locale !== null
export const losesLocales = ({ before, after }: TableState): boolean =>
  before.locale !== null && after.locale === null

/** True if versions that are deleted may take whole documents with them. */
export const losesDocuments = (holding: TableState): boolean => losesDrafts(holding) || losesLocales(holding)

export const changesVersions = ({ before, after }: TableState): boolean =>
  before.drafts !== after.drafts || (before.locale === null) !== (after.locale === null)

export const isComponent = ({ after }: TableState): boolean => after.holder === 'component'
