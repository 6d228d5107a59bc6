import { hintFor } from '../../../core/base/nearest.ts'
import { failed, ok, type Result } from '../../../core/base/result.ts'

/** Those of the candidates that go by the names, all where there are none; or a sentence for each unknown name. */
export function pick<Candidate>(
  noun: string,
  names: readonly string[],
  candidates: readonly Candidate[],
  nameOf: (candidate: Candidate) => string,
): Result<readonly Candidate[], string> {
  const known = candidates.map(nameOf)
  const unknown = names.filter(name => !known.includes(name))
  if (unknown.length > 0) return failed(...unknown.map(name => unknownName(noun, name, known)))
  return ok(names.length === 0 ? candidates : candidates.filter(each => names.includes(nameOf(each))))
}

/** The nearest of the known names, or all of them where none is near and they are few, or that there are none. */
export function unknownName(noun: string, name: string, known: readonly string[]): string {
  return `unknown ${noun} \`${name}\`${hintFor(name, known)}`
}
