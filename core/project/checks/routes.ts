import { didYouMean, hintFor } from '../../base/nearest.ts'
import type { ProjectFinding } from '../faults.ts'
import type { Settings } from '../settings/settings.ts'

const BUILT_IN = ['users', 'auth', 'upload', 'i18n', 'role']
const ACTIONS = ['find', 'findOne', 'create', 'update', 'delete']

/** Routes named in `routesConfig` must exist. (Actions of built-in routes are checked where they are served.) */
export function* routes({ routesConfig, contentTypes }: Settings): Generator<ProjectFinding> {
  for (const route of Object.keys(routesConfig)) {
    const [type = '', action = ''] = route.split('.')
    const path = ['routesConfig', route]
    const isDeclared = Object.hasOwn(contentTypes, type)
    if (!isDeclared && !BUILT_IN.includes(type)) {
      const hint = didYouMean(type, [...Object.keys(contentTypes), ...BUILT_IN])
      yield { code: 'unknown-name', message: `unknown content-type \`${type}\`${hint}`, path, atKey: true }
    }
    if (isDeclared && !ACTIONS.includes(action)) {
      const hint = hintFor(action, ACTIONS)
      yield { code: 'unknown-name', message: `unknown action \`${action}\`${hint}`, path, atKey: true }
    }
  }
}
