import { memoize } from '../base/memo.ts'
import type { Holder } from '../model/model.ts'
import type { Selection } from './query.ts'

export type Fields = Pick<Selection, 'fields' | 'named'>

/** Every scalar attribute of a holder. */
export const everyField = memoize((holder: Holder): Fields => {
  const fields = [...holder.attributes.values()].filter(attribute => attribute.kind === 'scalar')
  return { fields, named: false }
})
