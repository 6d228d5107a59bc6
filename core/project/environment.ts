import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { parseEnv } from 'node:util'
import { groupBy } from '../base/plain-data.ts'
import { failed, ok, type Result } from '../base/result.ts'
import type { Diagnostic, Path } from '../faults/diagnostic.ts'
import { readSource, type SourceText } from './yaml/source-file.ts'
import type { YamlNode } from './yaml/yaml-tree.ts'

/** The variables for `${NAME}`. */
export type Environment = Readonly<Record<string, string | undefined>>

/** The variables of `.env` in the project's folder, overridden by those of the process. */
export async function readEnvironment(
  folder: string,
  env: Environment,
): Promise<Result<Environment, Diagnostic>> {
  const file = join(folder, '.env')
  if (!existsSync(file)) return ok(env)
  const read = await readSource(file, folder)
  if (!read.ok) return read
  const stray = [...strayLines(read.value.text)].map(line => strayLine(read.value.shown, line))
  return stray.length > 0 ? failed(...stray) : ok({ ...parseEnv(read.value.text), ...env })
}

const ENTRY = /^(?:export\s+)?[\w.-]+\s*=\s*/

/** The numbers of lines that are no variable and no comment. A quoted value may have several lines. */
function* strayLines(text: string): Generator<number> {
  const lines = text.split('\n')
  for (let index = 0; index < lines.length; index++) {
    const line = lines[index]?.trim() ?? ''
    const name = ENTRY.exec(line)?.[0]
    if (name === undefined && line !== '' && !line.startsWith('#')) yield index + 1
    const quote = /^["'`]/.exec(line.slice(name?.length))?.[0]
    if (name === undefined || quote === undefined || line.includes(quote, name.length + 1)) continue
    const last = lines.findIndex((each, at) => at > index && each.includes(quote))
    if (last !== -1) index = last
  }
}

/** The parser would take the line for the beginning of the next variable's name. It is not quoted: it may hold a secret. */
const strayLine = (file: string, line: number): Diagnostic => ({
  code: 'syntax',
  message: 'expected `NAME=value`, or `#` and a comment: without it the next variable would be lost, too',
  location: { file, line, column: 1, source: '' },
  path: [],
})

/** The result of a substitution. */
export interface Substitution {
  readonly text: string
  /** The variables that were used. */
  readonly variables: readonly string[]
  /** The variables that are not set and have no fallback. */
  readonly unset: readonly string[]
  /** The text contains a `${` that is not a valid placeholder. */
  readonly malformed: boolean
}

/** The length of a fallback is bounded: otherwise many unclosed placeholders would take quadratic time. */
const PLACEHOLDER = /\$\$\{|\$\{([A-Za-z_][A-Za-z0-9_]*)(?:(:-)([^}]{0,2000}))?\}|\$\{/g

/** Replaces `${NAME}` and `${NAME:-fallback}` (used if NAME is unset or empty, as in a shell); `$${` escapes `${`. */
export function substitute(text: string, environment: Environment): Substitution {
  const variables: string[] = []
  const unset: string[] = []
  let malformed = false
  const replaced = text.replace(PLACEHOLDER, (found, name?: string, fallsBack?: string, fallback = '') => {
    if (found === '$${') return '${'
    if (name === undefined) malformed = true
    if (name === undefined) return found
    variables.push(name)
    const value = variableOf(environment, name)
    if (fallsBack) return value || fallback
    if (value === undefined) unset.push(name)
    return value ?? ''
  })
  return { text: replaced, variables, unset, malformed }
}

const variableOf = (environment: Environment, name: string): string | undefined =>
  Object.hasOwn(environment, name) ? environment[name] : undefined

interface VariableDefault {
  readonly variable: string
  readonly section: string
  readonly key: string
  /** The variable has a list, with commas between its items. */
  readonly isList?: true
}

/** Variables that are the defaults of keys which no file of the project has */
const VARIABLE_DEFAULTS: readonly VariableDefault[] = [
  { variable: 'HOST', section: 'server', key: 'host' },
  { variable: 'PORT', section: 'server', key: 'port' },
  { variable: 'DATABASE_URL', section: 'database', key: 'url' },
  { variable: 'REPLICA_URLS', section: 'database', key: 'replicas', isList: true },
  { variable: 'JWT_SECRET', section: 'auth', key: 'jwtSecret' },
]

/** Set by `--host`, `--port` and `--database`, which the processes and reloads of a command inherit. */
const OVERRIDES = [
  { variable: 'PLINTH_HOST', option: '--host', section: 'server', key: 'host' },
  { variable: 'PLINTH_PORT', option: '--port', section: 'server', key: 'port' },
  { variable: 'PLINTH_DATABASE', option: '--database', section: 'database', key: 'url' },
] as const

/** The variable that overrides the key of an option. */
export const overrideOf = (option: (typeof OVERRIDES)[number]['option']): string =>
  OVERRIDES.find(each => each.option === option)?.variable ?? ''

/** The option that sets a variable; undefined: none does. */
export const optionOf = (variable: string): string | undefined =>
  OVERRIDES.find(each => each.variable === variable)?.option

/** The values of options, which take precedence over all files. null: none. The replicas of another database never apply. */
export function overrideSource(environment: Environment): SourceText | null {
  const input = OVERRIDES.filter(({ variable }) => variableOf(environment, variable))
  if (input.length === 0) return null
  const lines = [...groupBy(input, ({ section }) => section)].flatMap(([section, keys]) => [
    `${section}:`,
    ...keys.map(({ key, variable }) => `  ${key}: \${${variable}}`),
    ...(section === 'database' ? ['  replicas: []'] : []),
  ])
  return { path: '', shown: 'the command line', text: lines.join('\n') }
}

/** The variable that gives a key its default. */
export const defaultVariableOf = (path: Path): string | undefined =>
  VARIABLE_DEFAULTS.find(({ section, key }) => path[0] === section && path[1] === key)?.variable

/** The defaults that the environment gives to a project, as a file that it includes. null: none. */
export function environmentSource(tree: YamlNode, environment: Environment): SourceText | null {
  const input = VARIABLE_DEFAULTS.filter(
    each => variableOf(environment, each.variable) && !hasKey(tree, each.section, each.key),
  )
  if (input.length === 0) return null
  const sections = groupBy(input, ({ section }) => section)
  const lines = [...sections].flatMap(([section, keys]) => [
    `${section}:`,
    ...keys.map(({ key, variable, isList }) => {
      const items = isList ? variableOf(environment, variable)?.split(',') : undefined
      return `  ${key}: ${items ? JSON.stringify(items.map(escapePlaceholder)) : `\${${variable}}`}`
    }),
  ])
  return { path: '', shown: 'the environment', text: lines.join('\n') }
}

const escapePlaceholder = (item: string): string => item.trim().replaceAll('${', () => '$${')

/** Also true for a section that is not a mapping: the schema reports it. */
function hasKey(tree: YamlNode, section: string, key: string): boolean {
  if (tree.kind !== 'map') return true
  const node = tree.entries.get(section)?.value
  if (node === undefined || (node.kind === 'scalar' && node.value === null)) return false
  return node.kind !== 'map' || node.entries.has(key)
}
