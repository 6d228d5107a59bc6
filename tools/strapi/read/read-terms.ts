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
  /** Told of each value that could not be carried over. */
  readonly lose: (loss: Loss) => void
}

export interface ReadHolder extends HolderReadContext {
  /** The content-type that the rows are of, or part of: its links say what its rows do not. */
  readonly root: ContentType
}

export type ValuesById = ReadonlyMap<number, StreamedValues>

/** Values under construction, by the id of their row. */
export type Drafts = ReadonlyMap<number, Record<string, unknown>>

/** Components that hold components are read by whoever reads their holder. */
export interface Nested {
  readonly pair: HolderPair<Component>
  readonly ids: readonly number[]
}
