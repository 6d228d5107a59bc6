import type { Path } from '../../faults/diagnostic.ts'
import type { Finding, ModelCode } from './finding.ts'

/** A name that something takes in a space where names are unique; `null`: Plinth itself takes it. */
export interface Claim {
  readonly name: string
  /** Who takes it, for messages: `content-type \`foo\``. */
  readonly by: string
  readonly path: Path | null
}

/** One finding for each two that claim the same names, however many they share; it names both. */
export function* clashes(code: ModelCode, what: string, claims: Iterable<Claim>): Generator<Finding> {
  const first = new Map<string, Claim>()
  const told = new Set<string>()
  for (const claim of claims) {
    const other = first.get(claim.name)
    if (other === undefined) first.set(claim.name, claim)
    else {
      const pair = `${other.by} ${claim.by}`
      if (!told.has(pair)) yield toFinding(code, what, other, claim)
      told.add(pair)
    }
  }
}

function toFinding(code: ModelCode, what: string, one: Claim, two: Claim): Finding {
  const [first, second] = two.path === null ? [two, one] : [one, two]
  const message = `${second.by} and ${first.by} have the same ${what}: \`${second.name}\``
  const finding: Finding = { code, message, path: second.path ?? [], atKey: true }
  if (first.path === null || first.path.length === 0) return finding
  return { ...finding, related: { path: first.path, message: first.by } }
}
