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
    yield { code: 'cycle', message: `roles extend each other in a cycle: ${way}`, path: pathOf(first) }
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

const TAKEN: ReadonlySet<string> = new Set([...Object.getOwnPropertyNames(Object.prototype), 'prototype'])

/** Roles and tokens must not have names of Object.prototype. (For types and attributes see core/model/check.) */
export function* objectNames(settings: Settings): Generator<ProjectFinding> {
  for (const section of ['roles', 'apiTokens'] as const) {
    for (const name of Object.keys(settings[section])) {
      if (!TAKEN.has(name)) continue
      yield {
        code: 'reserved-name',
        message: `\`${name}\` is a reserved name`,
        path: [section, name],
        atKey: true,
      }
    }
  }
}
