import { isRecord } from '../../core/base/plain-data.ts'
import { splitHosts } from '../../core/database/connect/target-url.ts'
import { type Path, printPath } from '../../core/faults/diagnostic.ts'
import {
  defaultVariableOf,
  type Environment,
  optionOf,
  readEnvironment,
} from '../../core/project/environment.ts'
import type { Project } from '../../core/project/project.ts'
import { isProjectSecret } from '../../core/project/secret-ranges.ts'

/** A setting as `plinth check --print` shows it. */
export interface PrintedSetting {
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
export async function readSettingOrigins(
  project: Project,
  env: Environment,
): Promise<readonly PrintedSetting[]> {
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
  const { place, variables } = written
  const [variable = defaultVariableOf(path)] = variables
  const option = variable && optionOf(variable)
  if (place.file === 'the command line') return option ?? 'set by --database'
  if (place.file === 'the environment') return sourceOf(variable ?? '', sources)
  const where = `${place.file}:${place.line}:${place.column}`
  return variables.length === 0
    ? where
    : `${where}, ${variables.map(name => sourceOf(name, sources)).join(', ')}`
}
