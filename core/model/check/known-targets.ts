import { didYouMean } from '../../base/nearest.ts'
import { attributePath, type Declarations, declaredAttributes } from '../declarations.ts'
import type { ModelFinding } from './finding.ts'

/** The target of a relation must be a content-type of the project, or `user`, `role` or `file`. */
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
