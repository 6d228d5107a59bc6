import { walkGraph } from '../../base/walk-graph.ts'
import type { AttributeDeclaration } from '../../project/settings/declarations.ts'
import { attributePath, type Declarations, type DeclaredComponent } from '../declarations.ts'
import type { ModelFinding } from './finding.ts'

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
    message: `components hold one another in a circle: ${names.join(' → ')}`,
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
