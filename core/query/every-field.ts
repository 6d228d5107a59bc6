import type { Holder } from '../model/model.ts'
import type { Selection } from './query.ts'

export type Fields = Pick<Selection, 'fields' | 'named'>

const known = new WeakMap<Holder, Fields>()

/** Every scalar attribute, found once a holder. */
export function everyField(holder: Holder): Fields {
  const before = known.get(holder)
  if (before) return before
  const fields = [...holder.attributes.values()].filter(attribute => attribute.kind === 'scalar')
  const every: Fields = { fields, named: false }
  known.set(holder, every)
  return every
}
