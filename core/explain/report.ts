import type { Explanation } from '../access/explain/explain.ts'
import type { Path, SourceLocation } from '../faults/diagnostic.ts'
import type { Project } from '../project/project.ts'
import type { RolesAnswer } from './answer.ts'
import type { MatrixPart } from './matrix.ts'
import { fieldReasonOf, reasonOf } from './reasons.ts'
import { openingsOf, type RouteOverride } from './route-overrides.ts'

/** A location as JSON: `source` is the whole line. */
export const locationJson = ({ file, line, column, source }: SourceLocation) => ({
  file,
  line,
  column,
  source,
})

const locationAt = (path: Path, project: Project) => locationJson(project.keyLocation(path))

/** An override of roles as JSON. */
export const openingJson = ({ kind, key, auth, policies, path }: RouteOverride, project: Project) => ({
  kind,
  key,
  auth,
  policies,
  location: locationAt(path, project),
})

/** An explanation as JSON; `where` and `set` as written in the file. */
export const explanationJson = (explanation: Explanation, project: Project) => ({
  action: explanation.action,
  allowed: explanation.allowed,
  why: explanation.why,
  location: locationAt(explanation.path, project),
  overrides: explanation.overridden && locationAt(explanation.overridden, project),
  through: explanation.through,
  where: explanation.options.where ?? null,
  fields: explanation.options.fields ?? null,
  set: explanation.options.set ?? null,
  readable: explanation.readable,
  writable: explanation.writable,
})

/** `{ roles: [{ kind, key, location, subjects: [{ subject, actions: […] }] }], openings: [{ kind, key, auth, policies, location }] }`, one line. */
export function printMatrixJson(parts: readonly MatrixPart[], project: Project): string {
  const roles = parts.map(({ holder, rows }) => ({
    ...holder,
    location: locationAt([holder.kind === 'role' ? 'roles' : 'apiTokens', holder.key], project),
    subjects: rows.map(({ subject, cells }) => ({
      subject: subject.name,
      actions: cells.map(cell => explanationJson(cell, project)),
    })),
  }))
  const openings = openingsOf(project).map(opening => openingJson(opening, project))
  return `${JSON.stringify({ roles, openings })}\n`
}

/** One line: whether it is allowed, why, and the compiled condition. */
export const printAnswerJson = (answer: RolesAnswer, project: Project): string =>
  `${JSON.stringify(answerReport(answer, project))}\n`

export function answerReport(
  { asker, allowed, explanation, field, sql, values, route, reads }: RolesAnswer,
  project: Project,
) {
  const { user, holder } = asker
  return {
    [holder.kind]: holder.key,
    ...(user && { user: { name: user.name, barred: user.barred, values } }),
    subject: explanation.subject.name,
    ...explanationJson(explanation, project),
    granted: explanation.allowed,
    allowed,
    reason: reasonOf(explanation),
    ...(field && {
      field: {
        name: field.name,
        path: field.path,
        allowed: field.allowed,
        reason: field.reason,
        sentence: fieldReasonOf(field),
        target: field.target && explanationJson(field.target, project),
        over: field.over.map(each => explanationJson(each, project)),
      },
    }),
    route: route && openingJson(route, project),
    sql,
    ...(reads.length > 0 && { reads: reads.map(read => explanationJson(read, project)) }),
  }
}
