import { didYouMean } from '../../base/nearest.ts'
import { walkGraph } from '../../base/walk-graph.ts'
import type { Path } from '../../faults/diagnostic.ts'
import type { AttributeDeclaration } from '../../project/settings/declarations.ts'
import {
  attributePath,
  type Declarations,
  type DeclaredComponent,
  declaredAttributes,
} from '../declarations.ts'
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

interface Use {
  readonly attribute: string
  readonly component: DeclaredComponent
}

/** A component that contains itself, directly or indirectly, could never be written. Each cycle is reported once. */
export function* componentCycles(declarations: Declarations): Generator<ModelFinding> {
  const usedBy = (component: DeclaredComponent) => usesOf(component, declarations).map(use => use.component)
  for (const members of walkGraph(declarations.components, usedBy).cycles) {
    const [first, last] = [members[0], members.at(-1)]
    const use = last && usesOf(last, declarations).find(({ component }) => component === first)
    if (last && use) yield cycle(members, last, use)
  }
}

function cycle(members: readonly DeclaredComponent[], last: DeclaredComponent, use: Use): ModelFinding {
  const names = [...members, use.component].map(({ uid }) => `\`${uid}\``)
  return {
    code: 'component-cycle',
    message: `components contain each other in a cycle: ${names.join(' → ')}`,
    path: attributePath(last, use.attribute),
  }
}

function usesOf(component: DeclaredComponent, { componentsByUid }: Declarations): readonly Use[] {
  return Object.entries(component.attributes).flatMap(([attribute, declaration]) =>
    usedComponents(declaration).flatMap(uid => {
      const used = componentsByUid.get(uid)
      return used ? [{ attribute, component: used }] : []
    }),
  )
}

function usedComponents(declaration: AttributeDeclaration): readonly string[] {
  if (declaration.type === 'component') return [declaration.component]
  return declaration.type === 'dynamiczone' ? declaration.components : []
}
