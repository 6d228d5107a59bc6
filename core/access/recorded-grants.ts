import { subjectOf } from './actions.ts'
import type { Grants } from './caller.ts'
import type { Condition } from './compile/condition.ts'
import type { PermissionScope } from './permission-scopes.ts'

/** Reports each permission whose condition is read, as every check that applies a condition reads it. */
export function recordConditions(grants: Grants, record: (used: PermissionScope) => void): Grants {
  /** `where` as a getter, which reports that it is read. */
  const reported = <Part extends { readonly where: Condition | null }>(
    part: Part,
    used: PermissionScope,
  ): Part =>
    part.where === null
      ? part
      : Object.defineProperty({ ...part }, 'where', {
          enumerable: true,
          get() {
            record(used)
            return part.where
          },
        })
  return Object.freeze<Grants>({
    name: grants.name,
    allows: grants.allows,
    roleRules: grants.roleRules,
    readAccess(type, action) {
      const access = grants.readAccess(type, action)
      if (!access) return null
      const subject = subjectOf(type)
      const drafts = access.drafts && reported(access.drafts, { subject, action: 'readDrafts' })
      return reported({ ...access, drafts }, { subject, action })
    },
    writeAccess(type, action) {
      const access = grants.writeAccess(type, action)
      return access && reported(access, { subject: subjectOf(type), action })
    },
  })
}
