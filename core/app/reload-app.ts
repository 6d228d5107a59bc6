import type { Environment } from '../project/environment.ts'
import { compileApp } from './compile-app.ts'
import { type ReplaceTerms, replaceApp } from './replace-app.ts'
import type { Service } from './service.ts'
import { printReason, type StartFault } from './start-fault.ts'

export interface ReloadTerms extends ReplaceTerms {
  readonly env: Environment
}

/** Serves what the project's files say now, or goes on as before; the log tells which, and why. Never rejects. */
export async function reloadApp(
  service: Service,
  files: readonly string[],
  terms: ReloadTerms,
): Promise<void> {
  const began = performance.now()
  try {
    const { root } = service.running.app.blueprint.project
    const compiled = await compileApp(root, terms.env)
    if (!compiled.ok) return refuse(service, [{ kind: 'files', diagnostics: compiled.reasons }])
    const replaced = await replaceApp(service, compiled.value, terms)
    if (!replaced.ok) return refuse(service, replaced.reasons)
    if (replaced.value.length > 0) service.log.tell({ kind: 'restartNeeded', keys: replaced.value })
    service.log.tell({ kind: 'reloaded', files, milliseconds: performance.now() - began })
  } catch (error) {
    const message = error instanceof Error ? (error.stack ?? error.message) : String(error)
    refuse(service, [{ kind: 'other', message }])
  }
}

const refuse = (service: Service, reasons: readonly StartFault[]): void =>
  service.log.tell({ kind: 'reloadRefused', why: reasons.map(printReason).join('\n\n') })
