import { permissionPartsOf, typesBySubject } from '../../access/actions.ts'
import { declaredPermissions } from '../../access/declared-permissions.ts'
import { userPathsIn } from '../../access/user-path.ts'
import { notListed } from '../../base/nearest.ts'
import { failed, ok, type Result } from '../../base/result.ts'
import type { Diagnostic, Path } from '../../faults/diagnostic.ts'
import type { ContentType, Holder, Model } from '../../model/model.ts'
import type { Project } from '../../project/project.ts'
import type { Settings } from '../../project/settings/settings.ts'
import { parseBody } from './given-body.ts'
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

/**
 * What is wrong with the values that permissions `set`: each request with such a permission would be refused for a value that
 * is not in its body. Values with `$user` and `$claims` are known in a request only. Unknown names are reported by access/.
 */
function* faultsOfSets(settings: Settings, model: Model): Generator<Pick<Diagnostic, 'message' | 'path'>> {
  const types = typesBySubject(model)
  for (const { permissions, path } of declaredPermissions(settings)) {
    for (const [subject, actions] of Object.entries(permissions)) {
      const type = types.get(subject)
      for (const [action, options] of Object.entries(actions)) {
        if (!type || typeof options !== 'object' || !permissionPartsOf(action).set) continue
        for (const [name, value] of Object.entries(options.set ?? {}))
          yield* faultsOfValue(type, name, value, [...path, subject, action, 'set'])
      }
    }
  }
}

function* faultsOfValue(type: ContentType, name: string, value: unknown, path: Path) {
  const attribute = type.attributes.get(name)
  if (!attribute || attribute.system || !userPathsIn(value).next().done) return
  const values = attribute.kind === 'scalar' ? attribute.values : undefined
  if (values && typeof value === 'string' && !values.includes(value)) {
    yield { path: [...path, name], message: notListed(value, name, values) }
    return
  }
  for (const { kind, message, path: below } of parseBody({ type, values: { [name]: value } }).faults)
    yield { path: [...path, ...below], message: kind === 'format' ? `\`${name}\`: ${message}` : message }
}
