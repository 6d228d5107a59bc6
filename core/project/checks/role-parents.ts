import { didYouMean } from '../../base/nearest.ts'
import { walkGraph } from '../../base/walk-graph.ts'
import type { Path } from '../../faults/diagnostic.ts'
import type { ProjectFinding } from '../faults.ts'
import type { RoleDeclaration, Settings } from '../settings/settings.ts'

type Roles = Readonly<Record<string, RoleDeclaration>>

/** A role must extend existing roles, and not itself, directly or indirectly. */
export function* roleParents({ roles }: Settings): Generator<ProjectFinding> {
  const reported = new Set<string>()
  for (const [key, role] of Object.entries(roles)) {
    for (const [index, parent] of role.extends.entries()) {
      if (!Object.hasOwn(roles, parent)) yield unknownParent(parent, [...pathOf(key), index], roles)
    }
  }
  const { cycles } = walkGraph(Object.keys(roles), key => parentsOf(key, roles))
  for (const cycle of cycles) {
    const [first = ''] = cycle
    if (cycle.some(member => reported.has(member))) continue
    for (const member of cycle) reported.add(member)
    const way = [...cycle, first].map(member => `\`${member}\``).join(' → ')
    yield { code: 'cycle', message: `roles extend one another in a circle: ${way}`, path: pathOf(first) }
  }
}

const parentsOf = (key: string, roles: Roles): readonly string[] =>
  (roles[key]?.extends ?? []).filter(parent => Object.hasOwn(roles, parent))

const pathOf = (key: string): Path => ['roles', key, 'extends']

const unknownParent = (parent: string, path: Path, roles: Roles): ProjectFinding => ({
  code: 'unknown-name',
  message: `unknown role \`${parent}\`${didYouMean(parent, Object.keys(roles))}`,
  path,
})
