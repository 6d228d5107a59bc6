import type { Environment } from '../project/environment.ts'
import { recompileApp } from './compile-app.ts'
import { type ReplaceTerms, replaceApp } from './replace-app.ts'
import type { Service } from './service.ts'
import { printReason, type StartFault } from './start-fault.ts'

export interface ReloadTerms extends ReplaceTerms {
  readonly env: Environment
}

/**
 * Serves what the project's files say now, or goes on as before; the log tells which, and why. Whether the former. Never rejects.
 * `files`: what changed since the last time that this was asked.
 */
export async function reloadApp(
  service: Service,
  files: readonly string[],
  terms: ReloadTerms,
): Promise<boolean> {
  const began = performance.now()
  const { unserved, log } = service
  for (const file of files) unserved.add(file)
  try {
    const changed = unserved.has(ANYTHING) ? [] : [...unserved]
    const compiled = await recompileApp(service.running.app.blueprint, changed, terms.env)
    if (!compiled.ok) return refuse(service, [{ kind: 'files', diagnostics: compiled.reasons }])
    const replaced = await replaceApp(service, compiled.value, terms)
    if (!replaced.ok) return refuse(service, replaced.reasons)
    if (replaced.value.length > 0) log.emit({ kind: 'restartNeeded', keys: replaced.value })
    log.emit({ kind: 'reloaded', files: changed, milliseconds: performance.now() - began })
    unserved.clear()
    return true
  } catch (error) {
    const message = error instanceof Error ? (error.stack ?? error.message) : String(error)
    return refuse(service, [{ kind: 'other', message }])
  }
}

/** In place of a file's path: all of them may have changed. */
export const ANYTHING = '*'

function refuse(service: Service, reasons: readonly StartFault[]): false {
  service.log.emit({ kind: 'reloadRefused', why: reasons.map(printReason).join('\n\n') })
  return false
}
