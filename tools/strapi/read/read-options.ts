import type { Component, ContentType } from '../../../core/model/model.ts'
import type { StreamedValues } from '../../transfer/stream.ts'
import type { Correspondence, HolderPair } from '../field-mapping.ts'
import type { RowIndex } from '../row-index.ts'
import type { StrapiNames } from '../strapi-names.ts'
import type { Loss } from '../warnings.ts'
import type { StrapiDatabase } from './source.ts'

export interface HolderReadContext {
  readonly source: StrapiDatabase
  readonly names: StrapiNames
  readonly correspondence: Correspondence
  readonly index: RowIndex
  /** Called for each value that could not be converted. */
  readonly lose: (loss: Loss) => void
}

export interface ReadHolder extends HolderReadContext {
  /** The content-type of the rows, or of their holder. It decides which locale and status links need. */
  readonly root: ContentType
  /** The locale of each row, or of its holder; null: the content-type is not localized. */
  readonly locales: RowLocales
}

export type RowLocales = ReadonlyMap<number, string | null>

export type ValuesById = ReadonlyMap<number, StreamedValues>

/** Values under construction, by row id. */
export type Drafts = ReadonlyMap<number, Record<string, unknown>>

/** Reads a holder; passed along because components may contain components. */
export interface Nested {
  readonly pair: HolderPair<Component>
  readonly ids: readonly number[]
  readonly locales: RowLocales
}
