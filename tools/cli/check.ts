import type { Result } from '../../core/base/result.ts'
import { type Diagnostic, printDiagnostic } from '../../core/faults/diagnostic.ts'
import { compileModel } from '../../core/model/compile-model.ts'
import type { Environment } from '../../core/project/environment.ts'
import { sortDiagnostics } from '../../core/project/faults.ts'
import { readProject } from '../../core/project/load-project.ts'
import type { Project } from '../../core/project/project.ts'

/** An additional check of a project with a valid project file. */
export type Checker = (project: Project) => Result<unknown, Diagnostic> | Promise<Result<unknown, Diagnostic>>

export interface CheckContext {
  readonly folder: string
  /** One line of JSON for programs, instead of text for people. */
  readonly json: boolean
  readonly env: Environment
  readonly write: (text: string) => void
  /** Further checks, in this order. */
  readonly checkers?: readonly Checker[]
}

const CHECKERS: readonly Checker[] = [compileModel]

/** `plinth check`: validates a project without a database. Returns the exit code: 0, or 1 for faults. */
export async function runCheck(terms: CheckContext): Promise<0 | 1> {
  const { project, faults } = await readProject(terms.folder, terms.env)
  const more = project === undefined ? [] : await judge(project, terms.checkers ?? CHECKERS)
  const all = sortDiagnostics([...faults, ...more])
  terms.write(terms.json ? printJson(all) : printText(all, project))
  return all.length === 0 ? 0 : 1
}

async function judge(project: Project, checkers: readonly Checker[]): Promise<readonly Diagnostic[]> {
  const results = await Promise.all(checkers.map(checker => checker(project)))
  return results.flatMap(result => (result.ok ? [] : result.reasons))
}

function printText(faults: readonly Diagnostic[], project: Project | undefined): string {
  if (faults.length > 0)
    return `${faults.map(printDiagnostic).join('\n\n')}\n\n${count(faults.length, 'fault')}\n`
  const { contentTypes = {}, components = {}, roles = {} } = project?.settings ?? {}
  const counts = [
    count(Object.keys(contentTypes).length, 'content-type'),
    count(Object.keys(components).length, 'component'),
    count(Object.keys(roles).length, 'role'),
  ]
  return `The project is in order: ${counts.join(', ')}.\n`
}

const count = (number: number, noun: string): string => `${number} ${noun}${number === 1 ? '' : 's'}`

/** `{ ok, faults: [{ code, message, file, line, column, path, related? }] }` */
function printJson(faults: readonly Diagnostic[]): string {
  const told = faults.map(({ code, message, path, place, related }) => ({
    code,
    message,
    ...spotOf(place),
    path,
    ...(related && { related: { message: related.message, ...spotOf(related.place) } }),
  }))
  return `${JSON.stringify({ ok: faults.length === 0, faults: told })}\n`
}

const spotOf = ({ file, line, column }: Diagnostic['place']) => ({ file, line, column })
