import { type Path, printPath } from '../faults/diagnostic.ts'

/**
 * Why what a body gives a relation or media attribute is refused. `key`: the path leads to a key that nothing
 * goes by; `format`: told first and alone, without a list of errors; `rule`: one of a list of errors.
 */
export interface LinkFault {
  readonly kind: 'key' | 'format' | 'rule'
  readonly path: Path
  readonly message: string
}

/** contract/rest.md 9: an entry that names no document; the reference does not say where. */
export const NO_ENTRY: LinkFault = { kind: 'rule', path: [], message: 'Invalid relations' }

export const invalidRelations = (path: Path, reason: string): LinkFault => ({
  kind: 'format',
  path,
  message: `Invalid relations at ${printPath(path)}: ${reason}`,
})
