import type { PermissionHolder } from '../access/explain/explain.ts'
import { didYouMean } from '../base/nearest.ts'
import { toMatrix } from '../explain/matrix.ts'
import { reasonOf } from '../explain/reasons.ts'
import { explanationJson, locationJson, openingJson } from '../explain/report.ts'
import type { RolesProject } from '../explain/roles-project.ts'
import { openingsOf } from '../explain/route-overrides.ts'
import { fault, RequestFault } from '../faults/fault.ts'
import type { Mask } from './mask-values.ts'

/** Roles and API tokens, and the routes whose configuration counts instead of them. */
export function describeHolders({ explainer, project }: RolesProject) {
  return {
    holders: explainer.holders.map(holder => ({
      ...holder,
      location: locationJson(
        project.keyLocation([holder.kind === 'role' ? 'roles' : 'apiTokens', holder.key]),
      ),
    })),
    openings: openingsOf(project).map(opening => openingJson(opening, project)),
  }
}

/** All decisions on one role or token, by subject. */
export function describeMatrix(name: string, roles: RolesProject, mask: Mask) {
  const holder = holderNamed(name, roles)
  const matrix = toMatrix(roles, { roles: [holder.key], types: [] })
  const rows = matrix.ok ? (matrix.value.find(part => part.holder === holder)?.rows ?? []) : []
  return {
    ...holder,
    subjects: rows.map(({ subject, cells }) => ({
      subject: subject.name,
      actions: cells.map(cell => {
        const { where, set, ...rest } = explanationJson(cell, roles.project)
        return { ...rest, where: mask(where), set: mask(set), reason: reasonOf(cell) }
      }),
    })),
  }
}

/** Throws a RequestFault (400) with the nearest name. */
export function holderNamed(name: string, { explainer: { holders } }: RolesProject): PermissionHolder {
  const holder = holders.find(({ key }) => key === name)
  if (holder) return holder
  const known = holders.map(({ key }) => key)
  throw new RequestFault(
    fault('validation', `unknown role or API token \`${name}\`${didYouMean(name, known)}`),
  )
}
