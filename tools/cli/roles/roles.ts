import type { Explanation } from '../../../core/access/explain/explain.ts'
import { toQuestion } from '../../../core/explain/answer.ts'
import { type MatrixFilter, type MatrixPart, toMatrix } from '../../../core/explain/matrix.ts'
import { explanationJson, printMatrixJson } from '../../../core/explain/report.ts'
import { loadRoles, type RolesProject } from '../../../core/explain/roles-project.ts'
import { doorOf, openingFor } from '../../../core/explain/route-overrides.ts'
import { type Diagnostic, fromWorkingDirectory, printDiagnostic } from '../../../core/faults/diagnostic.ts'
import type { Project } from '../../../core/project/project.ts'
import { printMatrix } from './roles-matrix.ts'
import { flowYaml, printLocation, type RolesContext } from './roles-output.ts'

/** `plinth roles`: who may do what. Answers the exit code: 0, 1 for faults of the project, 2 for unknown words. */
export async function runRoles(terms: RolesContext, narrowing: MatrixFilter): Promise<0 | 1 | 2> {
  const loaded = await loadRoles(terms.folder, terms.env)
  if (!loaded.ok) return complainOf(loaded.reasons, terms)
  const matrix = toMatrix(loaded.value, narrowing)
  if (!matrix.ok) {
    terms.complain(`${matrix.reasons.join('\n')}\n`)
    return 2
  }
  terms.write(print(matrix.value, loaded.value, terms))
  return 0
}

/**
 * `plinth roles who`: the roles and API tokens that may do something, each with its line and restrictions. Returns the
 * exit code: 0, 1 for faults of the project, 2 for unknown words.
 */
export async function runWho(
  terms: RolesContext,
  words: { readonly action: string; readonly type: string },
): Promise<0 | 1 | 2> {
  const loaded = await loadRoles(terms.folder, terms.env)
  if (!loaded.ok) return complainOf(loaded.reasons, terms)
  const { explainer, project } = loaded.value
  const question = toQuestion({ ...words, field: undefined }, loaded.value)
  if (!question.ok) {
    terms.complain(`${question.reasons.join('\n')}\n`)
    return 2
  }
  const { subject, action } = question.value
  const found = explainer.holders
    .map(holder => explainer.explain(holder, subject, action))
    .filter(({ allowed }) => allowed)
  const entries = found.map(each => ({ ...each.holder, ...explanationJson(each, project) }))
  const opening = openingFor(subject.name, action, project)
  if (terms.form === 'json')
    terms.write(`${JSON.stringify({ subject: subject.name, action, holders: entries })}\n`)
  else terms.write(printHolders(found, { project, words, door: opening && doorOf(opening) }))
  return 0
}

interface HolderTerms {
  readonly project: Project
  readonly words: { readonly action: string; readonly type: string }
  /** The `auth` of the route, which counts instead of roles. */
  readonly door: string | null
}

function printHolders(found: readonly Explanation[], { project, words, door }: HolderTerms): string {
  const rows = found.map(({ holder, path, terms: { where, fields, set }, through }) => [
    `${holder.kind} ${holder.key}`,
    printLocation(project.keyPlace(path)),
    [
      ...(through.length > 1 ? [`inherited from ${through.at(-1)}`] : []),
      ...Object.entries({ where, fields, set }).flatMap(([key, value]) =>
        value === undefined ? [] : [`${key} ${flowYaml(value)}`],
      ),
    ].join('; '),
  ])
  const width = (column: number) => Math.max(0, ...rows.map(row => row[column]?.length ?? 0))
  const lines = rows.map(([name = '', place = '', rest = '']) =>
    `${name.padEnd(width(0))}  ${place.padEnd(width(1))}  ${rest}`.trimEnd(),
  )
  const none = `No role and no API token may ${words.action} ${words.type}.`
  const overREST = door === null ? [] : [`Over REST, whatever roles say: ${door}.`]
  return `${[...(lines.length > 0 ? lines : [none]), ...overREST].join('\n')}\n`
}

/** Reports the faults of a project. */
export function complainOf(faults: readonly Diagnostic[], { complain, folder }: RolesContext): 1 {
  complain(`${faults.map(fromWorkingDirectory(folder)).map(printDiagnostic).join('\n\n')}\n`)
  return 1
}

function print(
  parts: readonly MatrixPart[],
  { project }: RolesProject,
  { form, paint }: RolesContext,
): string {
  switch (form) {
    case 'json':
      return printMatrixJson(parts, project)
    case 'text':
      return printMatrix(parts, { project, paint })
  }
}
