import { dirname } from 'node:path'
import type { Caller } from '../../core/access/caller.ts'
import { type Blueprint, compileApp } from '../../core/app/compile-app.ts'
import { registerApp, routeAuthOf } from '../../core/app/open-plugins.ts'
import { printStartFault } from '../../core/app/start-fault.ts'
import { makeFolder } from '../../core/base/make-folder.ts'
import { hintFor } from '../../core/base/nearest.ts'
import { failed, ok, type Result } from '../../core/base/result.ts'
import { fromWorkingDirectory, printDiagnostic } from '../../core/faults/diagnostic.ts'
import { SILENT } from '../../core/observe/observation.ts'
import type { Schema } from '../../core/openapi/answer-schemas.ts'
import { describeApi } from '../../core/openapi/describe-api.ts'
import type { Environment } from '../../core/project/environment.ts'
import { writeOutputFile } from '../transfer/partial-path.ts'

export interface DescribedRole {
  readonly folder: string
  readonly env: Environment
  /** A role, or an API token. */
  readonly role: string
  /** Default: the project's. */
  readonly format?: 'v4' | 'v5'
}

/** The OpenAPI document of a role, without a database. Fails with printed reasons. */
export async function describeRole({
  folder,
  env,
  role,
  format,
}: DescribedRole): Promise<Result<Schema, string>> {
  const compiled = await compileApp(folder, env)
  if (!compiled.ok) return failed(...compiled.reasons.map(fromWorkingDirectory(folder)).map(printDiagnostic))
  const blueprint = compiled.value
  const caller = callerNamed(role, blueprint)
  if (!caller.ok) return caller
  const registered = await registerApp(blueprint, SILENT)
  if (!registered.ok) return failed(...registered.reasons.map(printStartFault))
  const { model, project } = blueprint
  const { settings } = project
  const described = { ...routeAuthOf(blueprint), model, settings, registered: registered.value }
  const answered = format ?? settings.rest.responseFormat
  return ok(describeApi(described, caller.value, answered === 'v4' ? 'v4' : 'flat'))
}

function callerNamed(name: string, { access }: Blueprint): Result<Caller, string> {
  const { publicCaller, roles, tokens } = access
  if (name === publicCaller.grants.name) return ok(publicCaller)
  const role = roles.get(name)
  if (role) return ok({ kind: 'user', grants: role, user: {} })
  const token = tokens.get(name)
  if (token) return ok({ kind: 'token', grants: token, user: null })
  const known = new Set([publicCaller.grants.name, ...roles.keys(), ...tokens.keys()])
  return failed(`There is no role and no API token \`${name}\`${hintFor(name, known)}`)
}

export interface OpenapiRun extends DescribedRole {
  /** The output file; default: standard output. */
  readonly out?: string
  readonly write: (text: string) => void
  readonly writeError: (text: string) => void
}

/** `plinth openapi`: prints or writes the document. Returns the exit code. */
export async function runOpenapi({ out, write, writeError, ...described }: OpenapiRun): Promise<0 | 1> {
  const document = await describeRole(described)
  if (!document.ok) {
    writeError(`${document.reasons.join('\n\n')}\n`)
    return 1
  }
  const text = `${JSON.stringify(document.value, null, 2)}\n`
  if (out === undefined) {
    write(text)
    return 0
  }
  await makeFolder(dirname(out))
  await writeOutputFile(out, text)
  const count = Object.keys(document.value.paths ?? {}).length
  write(`${out}: what \`${described.role}\` may do, ${count} paths\n`)
  return 0
}
