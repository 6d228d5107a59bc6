import { failed, ok, type Result } from '../../base/result.ts'
import type { Diagnostic, Path } from '../../faults/diagnostic.ts'
import type { Holder, Model } from '../../model/model.ts'
import type { Project } from '../../project/project.ts'
import { faultsOfSets } from './check-set-values.ts'
import { parseScalar } from './parse-scalar.ts'

/**
 * Every `default` and `backfill` must be a value that a document may have: a default that is refused in a new document would be
 * left out, or refuse each request that leaves the attribute out. So must what permissions `set`.
 */
export function checkDeclaredValues(project: Project, model: Model): Result<null, Diagnostic> {
  const types = [...model.contentTypes.values()].filter(type => type === model.builtIn.user || !type.builtIn)
  const found = [
    ...types.flatMap(type => [...faultsOf(type, type.builtIn ? ['user'] : ['contentTypes', type.key])]),
    ...[...model.components.values()].flatMap(one => [...faultsOf(one, ['components', one.uid])]),
    ...faultsOfSets(project.settings, model),
  ]
  if (found.length === 0) return ok(null)
  return failed(...found.map(one => ({ code: 'bad-value', location: project.location(one.path), ...one })))
}

function* faultsOf(holder: Holder, place: Path): Generator<Pick<Diagnostic, 'message' | 'path'>> {
  for (const attribute of holder.attributes.values()) {
    if (attribute.kind !== 'scalar' || attribute.system) continue
    for (const key of ['default', 'backfill'] as const) {
      const value = attribute[key]
      if (value === undefined || value === null) continue
      const path = [...place, 'attributes', attribute.name, key]
      // Without a path, the message of a rule is the end of a sentence.
      const { faults } = parseScalar(attribute, value, { path: [], strictness: 'full' })
      for (const { message } of faults)
        yield { path, message: `the \`${key}\`${/^ ?[A-Z]/.test(message) ? ':' : ''} ${message.trim()}` }
    }
  }
}
