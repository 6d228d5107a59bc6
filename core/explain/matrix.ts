import type { Explanation, PermissionHolder, PermissionSubject } from '../access/explain/explain.ts'
import { failed, ok, type Result } from '../base/result.ts'
import { pick, type RolesProject } from './roles-project.ts'

/** Filters of the matrix, by key; empty lists mean all. */
export interface MatrixFilter {
  readonly roles: readonly string[]
  readonly types: readonly string[]
}

/** All permissions of one role. */
export interface MatrixPart {
  readonly holder: PermissionHolder
  readonly rows: readonly MatrixRow[]
}

export interface MatrixRow {
  readonly subject: PermissionSubject
  /** One for each action of the subject. */
  readonly cells: readonly Explanation[]
}

/** All roles, or the requested roles and tokens. Fails with a sentence for each unknown name. */
export function toMatrix(
  { explainer }: RolesProject,
  { roles, types }: MatrixFilter,
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
