import type { Model } from '../../model/model.ts'
import type { Observer } from '../../observe/observation.ts'
import type { Settings } from '../../project/settings/settings.ts'
import type { DocumentsApi } from './documents-api.ts'
import type { PluginApp } from './plugin-app.ts'

export interface AppTerms {
  readonly settings: Settings
  readonly model: Model
  readonly observer: Observer
}

export interface OpenPluginApp {
  readonly app: PluginApp
  /** From now on documents can be reached. */
  connect(documents: DocumentsApi): void
}

export function openPluginApp({ settings, model, observer }: AppTerms): OpenPluginApp {
  let connected: DocumentsApi | undefined
  const app: PluginApp = Object.freeze({
    name: settings.name,
    model,
    get documents() {
      if (connected) return connected
      throw new Error('app.documents can be used from bootstrap on: before, there is no database')
    },
    log: Object.freeze({
      info: (message: string) => observer.emit({ kind: 'pluginSaid', message }),
      warn: (message: string) => observer.emit({ kind: 'pluginWarned', message }),
      error: (message: string, error?: unknown) =>
        observer.emit({ kind: 'pluginFailed', message, ...(error === undefined ? {} : { error }) }),
    }),
  })
  return {
    app,
    connect(documents) {
      connected = documents
    },
  }
}
