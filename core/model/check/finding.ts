import type { Path } from '../../faults/diagnostic.ts'
import type { Declarations } from '../declarations.ts'

/** The diagnostic codes of this module, for declarations that fit the grammar. */
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
  'search',
  'renamed-from',
  'api-id-clash',
  'graphql-clash',
  'table-clash',
  'column-clash',
  'too-many-columns',
] as const
export type ModelCode = (typeof MODEL_CODES)[number]

/** A diagnostic before its path is resolved to a file, line and column. */
export interface ModelFinding {
  readonly code: ModelCode
  readonly message: string
  readonly path: Path
  /** The fault is in the key itself, not in its value. */
  readonly atKey?: true
  readonly related?: { readonly path: Path; readonly message: string }
}

export type ModelRule = (declarations: Declarations) => Iterable<ModelFinding>

/** A name in a namespace where names must be unique. A path of null: Plinth itself uses the name. */
export interface NameClaim {
  readonly name: string
  /** The owner of the name, for messages: `content-type \`foo\``. */
  readonly by: string
  readonly path: Path | null
}

/** One finding for each pair with common names, however many they share. The message names both. */
export function* findClashes(
  code: ModelCode,
  what: string,
  claims: Iterable<NameClaim>,
): Generator<ModelFinding> {
  const first = new Map<string, NameClaim>()
  const reported = new Set<string>()
  for (const claim of claims) {
    const other = first.get(claim.name)
    if (other === undefined) first.set(claim.name, claim)
    else {
      const pair = `${other.by} ${claim.by}`
      if (!reported.has(pair)) yield toFinding(code, what, other, claim)
      reported.add(pair)
    }
  }
}

function toFinding(code: ModelCode, what: string, one: NameClaim, two: NameClaim): ModelFinding {
  const [first, second] = two.path === null ? [two, one] : [one, two]
  const message = `${second.by} and ${first.by} have the same ${what}: \`${second.name}\``
  const finding: ModelFinding = { code, message, path: second.path ?? [], atKey: true }
  if (first.path === null || first.path.length === 0) return finding
  return { ...finding, related: { path: first.path, message: first.by } }
}
