import { didYouMean } from '../../base/nearest.ts'
import type { Path } from '../../faults/diagnostic.ts'
import { attributePath, attributesOf, type Declarations } from '../declarations.ts'
import type { Finding } from './finding.ts'

/** Every component that is used exists. */
export function* knownComponents(declarations: Declarations): Generator<Finding> {
  for (const { holder, name, declaration } of attributesOf(declarations)) {
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

function* known(uid: string, path: Path, { componentsByUid }: Declarations): Generator<Finding> {
  if (componentsByUid.has(uid)) return
  const near = didYouMean(uid, componentsByUid.keys())
  yield { code: 'unknown-component', message: `unknown component \`${uid}\`${near}`, path }
}
