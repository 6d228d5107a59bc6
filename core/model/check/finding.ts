import type { Path } from '../../faults/diagnostic.ts'
import type { Declarations } from '../declarations.ts'

/** What can be wrong with declarations that each fit the grammar; the closed list of this room's diagnostics. */
export const MODEL_CODES = [
  'reserved-name',
  'name-too-long',
  'unknown-target',
  'unknown-component',
  'relation-side',
  'component-cycle',
  'always-localized',
  'uid-source',
  'enumeration',
  'regex',
  'index',
  'renamed-from',
  'api-id-clash',
  'graphql-clash',
  'table-clash',
  'column-clash',
] as const
export type ModelCode = (typeof MODEL_CODES)[number]

/** A diagnostic before its place is looked up. */
export interface Finding {
  readonly code: ModelCode
  readonly message: string
  readonly path: Path
  /** The fault lies in the key itself, not in what it holds. */
  readonly atKey?: true
  readonly related?: { readonly path: Path; readonly message: string }
}

export type Rule = (declarations: Declarations) => Iterable<Finding>
