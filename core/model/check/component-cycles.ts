import type { AttributeDeclaration } from '../../project/settings.ts'
import { attributePath, type Declarations, type DeclaredComponent } from '../declarations.ts'
import type { Finding } from './finding.ts'

interface Use {
  readonly attribute: string
  readonly component: DeclaredComponent
}

/** A component that holds itself, by whatever way, could never be written whole. Each cycle is told once. */
export function* componentCycles(declarations: Declarations): Generator<Finding> {
  const done = new Set<DeclaredComponent>()
  for (const component of declarations.components) yield* visit(component, [], done, declarations)
}

function* visit(
  component: DeclaredComponent,
  way: readonly DeclaredComponent[],
  done: Set<DeclaredComponent>,
  declarations: Declarations,
): Generator<Finding> {
  if (done.has(component)) return
  const here = [...way, component]
  for (const use of usesOf(component, declarations)) {
    const start = here.indexOf(use.component)
    if (start >= 0) yield cycle(here.slice(start), component, use)
    else yield* visit(use.component, here, done, declarations)
  }
  done.add(component)
}

function cycle(members: readonly DeclaredComponent[], last: DeclaredComponent, use: Use): Finding {
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
