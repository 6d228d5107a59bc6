import { didYouMean } from '../../base/nearest.ts'
import type { Path } from '../../faults/diagnostic.ts'
import { attributePath, type Declarations, declaredAttributes } from '../declarations.ts'
import type { ModelFinding } from './finding.ts'

/** Every component that an attribute uses must exist. */
export function* knownComponents(declarations: Declarations): Generator<ModelFinding> {
  for (const { holder, name, declaration } of declaredAttributes(declarations)) {
    if (declaration.type === 'component') {
      yield* known(declaration.component, attributePath(holder, name, 'component'), declarations)
    }
    if (declaration.type !== 'dynamiczone') continue
    for (const [index, uid] of declaration.components.entries()) {
      const path = attributePath(holder, name, 'components', index)
      yield* known(uid, path, declarations)
    }
  }
}

function* known(uid: string, path: Path, { componentsByUid }: Declarations): Generator<ModelFinding> {
  if (componentsByUid.has(uid)) return
  const near = didYouMean(uid, componentsByUid.keys())
  yield { code: 'unknown-component', message: `unknown component \`${uid}\`${near}`, path }
}
