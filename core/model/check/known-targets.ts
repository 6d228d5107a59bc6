import { didYouMean } from '../../base/nearest.ts'
import { attributePath, type Declarations, declaredAttributes } from '../declarations.ts'
import type { ModelFinding } from './finding.ts'

/** Every relation leads to a content-type of the project, or to `user`, `role`, `file`. */
export function* knownTargets(declarations: Declarations): Generator<ModelFinding> {
  for (const { holder, name, declaration } of declaredAttributes(declarations)) {
    if (declaration.type !== 'relation' || declarations.targets.has(declaration.target)) continue
    yield {
      code: 'unknown-target',
      message: `unknown target \`${declaration.target}\`${didYouMean(declaration.target, declarations.targets.keys())}`,
      path: attributePath(holder, name, 'target'),
    }
  }
}
