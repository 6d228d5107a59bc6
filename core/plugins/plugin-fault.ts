import type { Diagnostic } from '../faults/diagnostic.ts'

/** All diagnostic codes of this module: faults of plugins and of their uses in project.yaml. */
export type PluginFault =
  | 'bad-module'
  | 'bad-module-name'
  | 'duplicate-module'
  | 'bad-migration'
  | 'unknown-policy'
  | 'unknown-middleware'
  | 'wrong-middleware'
  | 'bad-config'
  | 'unknown-route'
  | 'unknown-scope'

interface ModulePlace {
  /** Relative to the project's folder. */
  readonly file: string
  readonly line?: number
  readonly column?: number
  readonly source?: string
}

export const diagnoseModule = (
  code: PluginFault,
  message: string,
  { file, line = 1, column = 1, source = '' }: ModulePlace,
): Diagnostic => ({ code, message, path: [], place: { file, line, column, source } })
