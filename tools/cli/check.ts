import type { Result } from '../../core/base/result.ts'
import { type Diagnostic, fromWorkingDirectory, printDiagnostic } from '../../core/faults/diagnostic.ts'
import { compileModel } from '../../core/model/compile-model.ts'
import type { Environment } from '../../core/project/environment.ts'
import { sortDiagnostics } from '../../core/project/faults.ts'
import { readProject } from '../../core/project/load-project.ts'
import type { Project } from '../../core/project/project.ts'
import type { PrintedSetting } from './settings-origins.ts'

/** An additional check of a project with a valid project file. */
export type Checker = (project: Project) => Result<unknown, Diagnostic> | Promise<Result<unknown, Diagnostic>>

export interface CheckContext {
  readonly folder: string
  /** One line of JSON for programs, instead of text for people. */
  readonly json: boolean
  /** Also print each setting with its origin. */
  readonly print?: boolean
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
  const settings = terms.print && project ? await readSettings(project, terms) : undefined
  terms.write(terms.json ? printJson(all, settings) : printText(all, project, terms.folder))
  if (settings && !terms.json) terms.write(`\n${printSettings(settings)}`)
  return all.length === 0 ? 0 : 1
}

async function readSettings(project: Project, { env }: CheckContext): Promise<readonly PrintedSetting[]> {
  const { readSettingOrigins: settingsOf } = await import('./settings-origins.ts')
  return settingsOf(project, env)
}

const WIDEST = 48

function printSettings(settings: readonly PrintedSetting[]): string {
  const width = (texts: readonly string[]) => Math.min(WIDEST, Math.max(...texts.map(({ length }) => length)))
  const path = width(settings.map(setting => setting.path))
  const value = width(settings.map(setting => setting.value))
  return settings.map(one => `${one.path.padEnd(path)}  ${one.value.padEnd(value)}  ${one.origin}\n`).join('')
}

async function judge(project: Project, checkers: readonly Checker[]): Promise<readonly Diagnostic[]> {
  const results = await Promise.all(checkers.map(checker => checker(project)))
  return results.flatMap(result => (result.ok ? [] : result.reasons))
}

function printText(faults: readonly Diagnostic[], project: Project | undefined, folder: string): string {
  if (faults.length > 0)
    return `${faults.map(fromWorkingDirectory(folder)).map(printDiagnostic).join('\n\n')}\n\n${count(faults.length, 'fault')}\n`
  const { contentTypes = {}, components = {}, roles = {} } = project?.settings ?? {}
  const counts = [
    count(Object.keys(contentTypes).length, 'content-type'),
    count(Object.keys(components).length, 'component'),
    count(Object.keys(roles).length, 'role'),
  ]
  return `The project is in order: ${counts.join(', ')}.\n`
}

const count = (number: number, noun: string): string => `${number} ${noun}${number === 1 ? '' : 's'}`

/** With `print`: `settings: [{ path, value, origin }]`. `{ ok, faults: [{ code, message, file, line, column, path, related? }] }` */
function printJson(faults: readonly Diagnostic[], settings?: readonly PrintedSetting[]): string {
  const printed = faults.map(({ code, message, path, place, related }) => ({
    code,
    message,
    ...spotOf(place),
    path,
    ...(related && { related: { message: related.message, ...spotOf(related.place) } }),
  }))
  return `${JSON.stringify({ ok: faults.length === 0, faults: printed, ...(settings && { settings }) })}\n`
}

const spotOf = ({ file, line, column }: Diagnostic['place']) => ({ file, line, column })
