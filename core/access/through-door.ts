import type { LinkPopulate } from '../query/query.ts'
import type { View } from './caller.ts'
import { visibleAttributes } from './visible.ts'
import type { Walk } from './walk.ts'

/** The walk over one link as the caller makes it: where the project opened the link to him, he sees its target. */
export function throughDoor({ opened, attribute: { target } }: LinkPopulate, walk: Walk): Walk {
  if (!opened) return walk
  const { caller } = walk
  const own = opened === 'kept' ? caller.grants.view(target, 'find') : null
  const view: View = own ?? { readable: visibleAttributes(target), where: null, drafts: { where: null } }
  return { ...walk, caller: { ...caller, grants: { ...caller.grants, view: () => view } } }
}
