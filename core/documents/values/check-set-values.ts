import { permissionPartsOf, subjectOf } from '../../access/actions.ts'
import { userPathsIn } from '../../access/user-path.ts'
import { hintFor } from '../../base/nearest.ts'
import type { Diagnostic, Path } from '../../faults/diagnostic.ts'
import type { ContentType, Model } from '../../model/model.ts'
import type { Permissions, Settings } from '../../project/settings/settings.ts'
import { parseBody } from './given-body.ts'

/**
 * What is wrong with the values that permissions `set`: each request with such a permission would be refused for a value that
 * is not in its body. Values with `$user` and `$claims` are known in a request only. Unknown names are reported by access/.
 */
export function* faultsOfSets(
  { roles, apiTokens }: Settings,
  model: Model,
): Generator<Pick<Diagnostic, 'message' | 'path'>> {
  for (const [section, holders] of Object.entries({ roles, apiTokens }))
    for (const [key, holder] of Object.entries(holders))
      if ('permissions' in holder) yield* faultsIn(holder.permissions, [section, key, 'permissions'], model)
}

function* faultsIn(permissions: Permissions, path: Path, { contentTypes }: Model) {
  const types = new Map([...contentTypes.values()].map(type => [subjectOf(type), type]))
  for (const [subject, actions] of Object.entries(permissions)) {
    const type = types.get(subject)
    for (const [action, options] of Object.entries(actions)) {
      if (!type || typeof options !== 'object' || !permissionPartsOf(action).set) continue
      for (const [name, value] of Object.entries(options.set ?? {}))
        yield* faultsOfValue(type, name, value, [...path, subject, action, 'set'])
    }
  }
}

function* faultsOfValue(type: ContentType, name: string, value: unknown, path: Path) {
  const attribute = type.attributes.get(name)
  if (!attribute || attribute.system || !userPathsIn(value).next().done) return
  const values = attribute.kind === 'scalar' ? attribute.values : undefined
  if (values && typeof value === 'string' && !values.includes(value)) {
    yield {
      path: [...path, name],
      message: `\`${value}\` is not a value of \`${name}\`${hintFor(value, values)}`,
    }
    return
  }
  for (const { kind, message, path: below } of parseBody({ type, values: { [name]: value } }).faults)
    yield { path: [...path, ...below], message: kind === 'format' ? `\`${name}\`: ${message}` : message }
}
