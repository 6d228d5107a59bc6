import { didYouMean } from '../../base/nearest.ts'
import type { Path } from '../../faults/diagnostic.ts'
import type { Finding } from '../faults.ts'
import type { RoleDeclaration, Settings } from '../settings.ts'

type Roles = Readonly<Record<string, RoleDeclaration>>

/** A role extends roles that exist, and never, by whatever way, itself. */
export function* roleParents({ roles }: Settings): Generator<Finding> {
  const told = new Set<string>()
  for (const [key, role] of Object.entries(roles)) {
    for (const [index, parent] of role.extends.entries()) {
      if (!Object.hasOwn(roles, parent)) yield unknownParent(parent, [...pathOf(key), index], roles)
    }
    const circle = circleFrom(key, [], roles)
    if (circle === undefined || circle.some(member => told.has(member))) continue
    for (const member of circle) told.add(member)
    const way = circle.map(member => `\`${member}\``).join(' → ')
    yield { code: 'cycle', message: `roles extend one another in a circle: ${way}`, path: pathOf(key) }
  }
}

const pathOf = (key: string): Path => ['roles', key, 'extends']

const unknownParent = (parent: string, path: Path, roles: Roles): Finding => ({
  code: 'unknown-name',
  message: `unknown role \`${parent}\`${didYouMean(parent, Object.keys(roles))}`,
  path,
})

/** The way from a role back to itself, or undefined. */
function circleFrom(key: string, trail: readonly string[], roles: Roles): readonly string[] | undefined {
  if (trail[0] === key) return [...trail, key]
  if (trail.includes(key) || !Object.hasOwn(roles, key)) return undefined
  for (const parent of roles[key]?.extends ?? []) {
    const circle = circleFrom(parent, [...trail, key], roles)
    if (circle) return circle
  }
  return undefined
}
