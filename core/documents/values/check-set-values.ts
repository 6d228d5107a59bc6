import { permissionPartsOf, typesBySubject } from '../../access/actions.ts'
import { declaredPermissions } from '../../access/declared-permissions.ts'
import { userPathsIn } from '../../access/user-path.ts'
import { notListed } from '../../base/nearest.ts'
import type { Diagnostic, Path } from '../../faults/diagnostic.ts'
import type { ContentType, Model } from '../../model/model.ts'
import type { Settings } from '../../project/settings/settings.ts'
import { parseBody } from './given-body.ts'

/**
 * What is wrong with the values that permissions `set`: each request with such a permission would be refused for a value that
 * is not in its body. Values with `$user` and `$claims` are known in a request only. Unknown names are reported by access/.
 */
export function* faultsOfSets(
  settings: Settings,
  model: Model,
): Generator<Pick<Diagnostic, 'message' | 'path'>> {
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
