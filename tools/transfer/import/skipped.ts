import type { ContentType } from '../../../core/model/model.ts'
import type { LineFault } from '../line-fault.ts'

/** Documents of a stream that are left out of its import, as its checkpoint keeps them. */
export interface LeftOut {
  /** Why, by line; known before anything was written. */
  readonly faults: readonly LineFault[]
  readonly refused: readonly RefusedDocument[]
}

/** A document that was refused when others had been written already. */
export interface RefusedDocument {
  /** See nameInStream. */
  readonly called: string
  readonly faults: readonly LineFault[]
}

export const NONE_LEFT_OUT: LeftOut = { faults: [], refused: [] }

/** The lines that count for nothing from the beginning. */
export const linesWithout = ({ faults }: LeftOut): ReadonlySet<number> =>
  new Set(faults.map(({ line }) => line))

export const faultsIn = ({ faults, refused }: LeftOut): readonly LineFault[] =>
  [...faults, ...refused.flatMap(each => each.faults)].toSorted((a, b) => a.line - b.line)

export const nameInStream = (type: ContentType, documentId: string): string => `${type.uid} ${documentId}`
