import { isDeepStrictEqual } from 'node:util'
import { walkGraph } from '../../base/walk-graph.ts'
import type { RoleDeclaration } from '../../project/settings/settings.ts'
import { isBuiltInSubject } from '../actions.ts'
import type { Finding } from '../finding.ts'
import { type Cell, type Cells, cellOf, EVERY, overlay, toCells } from '../permission-entries.ts'

export interface Inherited {
  readonly roles: ReadonlyMap<string, Cells>
  readonly findings: readonly Finding[]
}

type Declared = Readonly<Record<string, RoleDeclaration>>

/**
 * Every role with what it extends: a permission given again replaces the inherited one. A parent that does not exist, or
 * that extends the role in turn, adds nothing: project/ reports both, and its other faults are still worth reporting.
 */
export function inheritRoles(declared: Declared): Inherited {
  const roles = new Map<string, Cells>()
  const { order } = walkGraph(Object.keys(declared), key => parentsOf(key, declared))
  return { roles, findings: order.flatMap(key => resolve(key, declared, roles)) }
}

const parentsOf = (key: string, declared: Declared): readonly string[] =>
  (declared[key]?.extends ?? []).filter(parent => Object.hasOwn(declared, parent))

/** Its parents are resolved; answers what they disagree on. */
function resolve(key: string, declared: Declared, done: Map<string, Cells>): readonly Finding[] {
  const role = declared[key]
  if (!role) return []
  const parents = role.extends.map(parent => ({ name: parent, cells: done.get(parent) ?? new Map() }))
  const above = toCells(role.permissions, ['roles', key, 'permissions'])
  done.set(key, overlay(parents.map(({ cells }) => cells).reduce(overlay, new Map()), above))
  return [...conflicts(key, parents, above)]
}

interface Parent {
  readonly name: string
  readonly cells: Cells
}

/** What a parent says of every content-type, it says of one that another parent names. */
function* conflicts(key: string, parents: readonly Parent[], above: Cells): Generator<Finding> {
  for (const [subject, action] of spotsOf(parents)) {
    if (cellOf(above, subject, action)) continue
    const saying = parents.flatMap(({ name, cells }) => {
      const cell = cellOf(cells, subject, action) ?? everyCell(cells, subject, action)
      return cell ? [{ name, cell }] : []
    })
    const [first, ...others] = saying
    for (const { name, cell } of others) {
      if (first && !isDeepStrictEqual(first.cell.said, cell.said))
        yield conflict(key, { subject, action }, [first.name, name], cell)
    }
  }
}

const everyCell = (cells: Cells, subject: string, action: string): Cell | undefined =>
  isBuiltInSubject(subject) ? undefined : cellOf(cells, EVERY, action)

type Spot = readonly [subject: string, action: string]

/** Everything that some parent names, once. */
function spotsOf(parents: readonly Parent[]): readonly Spot[] {
  const spots = new Map<string, Spot>()
  for (const { cells } of parents) {
    for (const [subject, row] of cells) {
      for (const action of row.keys()) spots.set(`${subject} ${action}`, [subject, action])
    }
  }
  return [...spots.values()]
}

function conflict(
  key: string,
  { subject, action }: { readonly subject: string; readonly action: string },
  [one, other]: readonly [string, string],
  cell: Cell,
): Finding {
  return {
    code: 'conflicting-parents',
    message: `\`${one}\` and \`${other}\` differ on \`${action}\` of \`${subject}\`: say it in \`${key}\``,
    path: ['roles', key, 'extends'],
    related: { path: cell.path, message: `as \`${other}\` has it` },
  }
}
