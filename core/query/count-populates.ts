import type { Populate, Selection } from './query.ts'

/** How many populates a selection asks for, with those inside of others. */
export const countPopulates = ({ populate }: Selection): number =>
  populate.reduce((sum, each) => sum + 1 + countBelow(each), 0)

const countBelow = (populate: Populate): number =>
  populate.kind === 'zone'
    ? populate.components.reduce((sum, { selection }) => sum + countPopulates(selection), 0)
    : countPopulates(populate.selection)
