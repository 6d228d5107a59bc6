import type { Model } from '../../model/model.ts'
import type { DocumentsApi } from './documents-api.ts'

/** The server, as plugins see it. */
export interface PluginApp {
  /** `name` of project.yaml. */
  readonly name: string
  /** What the project declares, compiled. Frozen. */
  readonly model: Model
  /** The document service. It can be used from `bootstrap` on: before, there is no database. */
  readonly documents: DocumentsApi
  readonly log: PluginLog
}

/** Lines of the server's log; secrets of the project are hidden in them. */
export interface PluginLog {
  info(message: string): void
  warn(message: string): void
  error(message: string, error?: unknown): void
}
