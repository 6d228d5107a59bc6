import { relative } from 'node:path'
import { setImmediate } from 'node:timers/promises'
import { isRecord } from '../../core/base/plain-data.ts'
import { projectPosition, toReadableError } from '../../core/base/project-frame.ts'
import { failed, type Result } from '../../core/base/result.ts'
import { withNoun } from '../../core/base/text.ts'
import { splitHosts } from '../../core/database/connect/target-url.ts'
import {
  type Diagnostic,
  fromWorkingDirectory,
  type Path,
  printDiagnostic,
  printPath,
} from '../../core/faults/diagnostic.ts'
import { compileModel } from '../../core/model/compile-model.ts'
import {
  defaultVariableOf,
  type Environment,
  optionOf,
  readEnvironment,
} from '../../core/project/environment.ts'
import { sortDiagnostics } from '../../core/project/faults.ts'
import { readProject } from '../../core/project/load-project.ts'
import type { Project } from '../../core/project/project.ts'
import { isProjectSecret } from '../../core/project/secret-ranges.ts'

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

/** Adds promises of the project's code that are rejected during a check, and that nothing awaits. */
export const withUnhandled =
  (check: Checker): Checker =>
  async project => {
    const found: Diagnostic[] = []
    const report = (error: unknown): void => {
      const at = projectPosition(error, project.root)
      // An error of this program.
      if (error instanceof Error && at === null) throw error
      const message = `a promise that nothing awaits was rejected: ${toReadableError(error).message}`
      const location = { file: 'extensions', line: 1, column: 1, source: '', ...at }
      found.push({ code: 'bad-module', message, path: [], location })
    }
    process.on('unhandledRejection', report)
    try {
      const result = await check(project)
      await setImmediate()
      return failed(...(result.ok ? [] : result.reasons), ...found)
    } finally {
      process.off('unhandledRejection', report)
    }
  }

const CHECKERS: readonly Checker[] = [compileModel]

/** `plinth check`: validates a project without a database. Returns the exit code: 0, or 1 for faults. */
export async function runCheck(options: CheckContext): Promise<0 | 1> {
  const { project, faults } = await readProject(options.folder, options.env)
  const more = project === undefined ? [] : await judge(project, options.checkers ?? CHECKERS)
  const all = projectFirst([...faults, ...more], project)
  const settings = options.print && project ? await readSettingOrigins(project, options.env) : undefined
  options.write(options.json ? printJson(all, settings) : printText(all, project, options.folder))
  if (settings && !options.json) options.write(`\n${printSettings(settings)}`)
  return all.length === 0 ? 0 : 1
}

const WIDEST = 48

function printSettings(settings: readonly PrintedSetting[]): string {
  const width = (texts: readonly string[]) => Math.min(WIDEST, Math.max(...texts.map(({ length }) => length)))
  const path = width(settings.map(setting => setting.path))
  const value = width(settings.map(setting => setting.value))
  return settings.map(one => `${one.path.padEnd(path)}  ${one.value.padEnd(value)}  ${one.origin}\n`).join('')
}

/** Sorted by location. Those of the project's own files come first: faults of content and code may be consequences. */
function projectFirst(faults: readonly Diagnostic[], project: Project | undefined): readonly Diagnostic[] {
  const own = new Set(project?.files.map(file => relative(project.root, file)))
  const isOwn = ({ location }: Diagnostic): boolean => own.has(location.file)
  const sorted = sortDiagnostics(faults)
  return [...sorted.filter(isOwn), ...sorted.filter(fault => !isOwn(fault))]
}

async function judge(project: Project, checkers: readonly Checker[]): Promise<readonly Diagnostic[]> {
  const results = await Promise.all(checkers.map(checker => checker(project)))
  return results.flatMap(result => (result.ok ? [] : result.reasons))
}

function printText(faults: readonly Diagnostic[], project: Project | undefined, folder: string): string {
  if (faults.length > 0)
    return `${faults.map(fromWorkingDirectory(folder)).map(printDiagnostic).join('\n\n')}\n\n${withNoun(faults.length, 'fault')}\n`
  const { contentTypes = {}, components = {}, roles = {} } = project?.settings ?? {}
  const counts = [
    withNoun(Object.keys(contentTypes).length, 'content-type'),
    withNoun(Object.keys(components).length, 'component'),
    withNoun(Object.keys(roles).length, 'role'),
  ]
  return `The project is in order: ${counts.join(', ')}.\n`
}

/** With `print`: `settings: [{ path, value, origin }]`. `{ ok, faults: [{ code, message, file, line, column, path, related? }] }` */
function printJson(faults: readonly Diagnostic[], settings?: readonly PrintedSetting[]): string {
  const printed = faults.map(({ code, message, path, location, related }) => ({
    code,
    message,
    ...spotOf(location),
    path,
    ...(related && { related: { message: related.message, ...spotOf(related.location) } }),
  }))
  return `${JSON.stringify({ ok: faults.length === 0, faults: printed, ...(settings && { settings }) })}\n`
}

const spotOf = ({ file, line, column }: Diagnostic['location']) => ({ file, line, column })

/** A setting as `plinth check --print` shows it. */
interface PrintedSetting {
  readonly path: string
  /** Secrets are masked. */
  readonly value: string
  readonly origin: string
}

/** Declarations of the model and of permissions: `plinth roles` and `plinth types` show what they mean. */
const DECLARATIONS: ReadonlySet<string> = new Set([
  'include',
  'components',
  'contentTypes',
  'user',
  'roles',
  'apiTokens',
  'routesConfig',
  'resolversConfig',
])

/** Every setting of a project with its effective value and its origin. */
async function readSettingOrigins(project: Project, env: Environment): Promise<readonly PrintedSetting[]> {
  const withFile = await readEnvironment(project.root, env)
  const sources = { env, withFile: withFile.ok ? withFile.value : env }
  const sections = Object.entries(project.settings).filter(([name]) => !DECLARATIONS.has(name))
  return sections
    .flatMap(([name, value]) => [...leavesOf([name], value)])
    .map(({ path, value }) => {
      const written = project.writtenAt(path)
      const isHidden = (written?.variables.length ?? 0) > 0 && path[0] === 'middlewares'
      return {
        path: printPath(path),
        value: isHidden ? MASK : maskedValue(path, value),
        origin: originOf(path, written, sources),
      }
    })
}

const MASK = '******'

function* leavesOf(path: Path, value: unknown): Generator<{ path: Path; value: unknown }> {
  const inner = Array.isArray(value) && value.some(isRecord) ? [...value.entries()] : entriesOf(value)
  if (inner.length === 0) yield { path, value }
  for (const [key, each] of inner) yield* leavesOf([...path, key], each)
}

const entriesOf = (value: unknown): readonly (readonly [string | number, unknown])[] =>
  isRecord(value) && !Array.isArray(value) ? Object.entries(value) : []

function maskedValue(path: Path, value: unknown): string {
  const isEmpty = value === null || value === '' || (Array.isArray(value) && value.length === 0)
  if (isEmpty || !isProjectSecret(path))
    return typeof value === 'string' ? value || '""' : JSON.stringify(value)
  if (path[0] !== 'database') return MASK
  const urls = Array.isArray(value) ? value : [value]
  return urls.map(url => (url === 'embedded' ? url : maskUrl(String(url)))).join(', ')
}

/** Keeps hosts and the name of the database. */
function maskUrl(url: string): string {
  const hosts = splitHosts(url).map(each => (URL.canParse(each) ? new URL(each) : null))
  const [first] = hosts
  if (!first || hosts.includes(null)) return MASK
  const user = first.username === '' ? '' : `${first.username}${first.password === '' ? '' : `:${MASK}`}@`
  return `${first.protocol}//${user}${hosts.map(host => host?.host).join(',')}${first.pathname}`
}

interface Sources {
  readonly env: Environment
  /** The same with the variables of `.env`. */
  readonly withFile: Environment
}

function sourceOf(name: string, { env, withFile }: Sources): string {
  if (Object.hasOwn(env, name)) return `${name} (environment)`
  return Object.hasOwn(withFile, name) ? `${name} (.env)` : `${name} (not set)`
}

function originOf(path: Path, written: ReturnType<Project['writtenAt']>, sources: Sources): string {
  if (written === null) return 'default'
  const { location, variables } = written
  const [variable = defaultVariableOf(path)] = variables
  const option = variable && optionOf(variable)
  if (location.file === 'the command line') return option ?? 'set by --database'
  if (location.file === 'the environment') return sourceOf(variable ?? '', sources)
  const where = `${location.file}:${location.line}:${location.column}`
  return variables.length === 0
    ? where
    : `${where}, ${variables.map(name => sourceOf(name, sources)).join(', ')}`
}
