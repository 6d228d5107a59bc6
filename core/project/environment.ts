import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { parseEnv } from 'node:util'
import { ok, type Result } from '../base/result.ts'
import type { Diagnostic } from '../faults/diagnostic.ts'
import { readSource } from './yaml/source-file.ts'

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
  return read.ok ? ok({ ...parseEnv(read.value.text), ...env }) : read
}

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
