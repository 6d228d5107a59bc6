import type { LinkPopulate } from '../../query/query.ts'
import type { View } from '../caller.ts'
import type { Walk } from './read-scope.ts'
import { visibleAttributes } from './visible.ts'

/**
 * The walk over one link as the caller makes it: where the project opened the link to the caller, its target is
 * visible. Drafts of it stay hidden from a caller who may not read them.
 */
export function throughDoor({ opened, attribute: { target } }: LinkPopulate, walk: Walk): Walk {
  if (!opened) return walk
  const { caller } = walk
  const own = caller.grants.view(target, 'find')
  const view: View =
    opened === 'kept' && own
      ? own
      : { readable: visibleAttributes(target), where: null, drafts: own?.drafts ?? null }
  return { ...walk, caller: { ...caller, grants: { ...caller.grants, view: () => view } } }
}
