import type {
  Explanation,
  PermissionHolder,
  PermissionSubject,
} from '../../../core/access/explain/explain.ts'
import { failed, ok, type Result } from '../../../core/base/result.ts'
import { pick } from './roles-names.ts'
import type { RolesProject } from './roles-project.ts'

/** What the matrix is narrowed to: keys; none is all. */
export interface Narrowing {
  readonly roles: readonly string[]
  readonly types: readonly string[]
}

/** All that one role may do. */
export interface MatrixPart {
  readonly holder: PermissionHolder
  readonly rows: readonly MatrixRow[]
}

export interface MatrixRow {
  readonly subject: PermissionSubject
  /** One for each of the subject's actions. */
  readonly cells: readonly Explanation[]
}

/** Every role, or those roles and tokens that were asked for; or which word is unknown. */
export function toMatrix(
  { explainer }: RolesProject,
  { roles, types }: Narrowing,
): Result<readonly MatrixPart[], string> {
  const holders = explainer.holders
  const pickedHolders = pick('role', roles, holders, ({ key }) => key)
  const pickedSubjects = pick('type', types, explainer.subjects, ({ name }) => name)
  if (!pickedHolders.ok || !pickedSubjects.ok)
    return failed(...reasonsOf(pickedHolders), ...reasonsOf(pickedSubjects))
  const shown = roles.length > 0 ? pickedHolders.value : holders.filter(({ kind }) => kind === 'role')
  return ok(
    shown.map(holder => ({
      holder,
      rows: pickedSubjects.value.map(subject => ({
        subject,
        cells: subject.actions.map(action => explainer.explain(holder, subject, action)),
      })),
    })),
  )
}

const reasonsOf = (result: Result<unknown, string>): readonly string[] => (result.ok ? [] : result.reasons)

/** Granted in part: W by `where`, F by `fields`, S with `set`. */
export const lettersOf = ({ terms }: Explanation): string =>
  `${terms.where ? 'W' : ''}${terms.fields ? 'F' : ''}${terms.set ? 'S' : ''}`

/** `all`, letters, or `-`; in brackets what another action implies. */
export function markOf(cell: Explanation): string {
  if (!cell.allowed) return '-'
  const mark = lettersOf(cell) || 'all'
  return cell.why.kind === 'implied' ? `(${mark})` : mark
}

/** Nothing of it is granted, and no line takes anything away. */
export const isUnsaid = ({ cells }: MatrixRow): boolean => cells.every(({ why }) => why.kind === 'unsaid')
