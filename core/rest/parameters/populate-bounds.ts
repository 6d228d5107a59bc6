import { type Fault, fault } from '../../faults/fault.ts'
import type { Populate } from '../../query/query.ts'

/** Levels of populates inside of populates. */
export const POPULATE_DEPTH = 10

/** More populates than anybody asks for by hand; each costs a subquery. */
const MAX_POPULATES = 500

export const tooDeep = (): Fault =>
  fault('validation', `A populate may go at most ${POPULATE_DEPTH} levels deep`)

/** What is too much about the populates of a query. */
export function findExcess(populates: readonly Populate[]): Fault | undefined {
  if (depthOf(populates) > POPULATE_DEPTH) return tooDeep()
  if (sizeOf(populates) <= MAX_POPULATES) return undefined
  return fault('validation', `A query may populate at most ${MAX_POPULATES} attributes`)
}

const depthOf = (populates: readonly Populate[]): number =>
  populates.reduce((depth, populate) => Math.max(depth, 1 + depthOf(inside(populate))), 0)

const sizeOf = (populates: readonly Populate[]): number =>
  populates.reduce((size, populate) => size + 1 + sizeOf(inside(populate)), 0)

const inside = (populate: Populate): readonly Populate[] =>
  populate.kind === 'zone'
    ? populate.components.flatMap(({ selection }) => selection.populate)
    : populate.selection.populate
