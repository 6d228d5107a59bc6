import { rejectAfter } from '../base/with-timeout.ts'
import type { Observer } from '../observe/observation.ts'
import type { Plugins } from './plugins.ts'
import { TIMEOUTS } from './register.ts'
import type { PluginApp } from './services/plugin-app.ts'

/** Starts extensions in order; why the server cannot start, in a sentence, or null. */
export async function bootstrapPlugins({ extensions }: Plugins, app: PluginApp): Promise<string | null> {
  for (const [name, extension] of extensions) {
    try {
      await rejectAfter(TIMEOUTS.bootstrap, () => extension.bootstrap?.({ app }))
    } catch (error) {
      return `extensions/${name} could not start: ${error instanceof Error ? error.message : String(error)}`
    }
  }
  return null
}

/** Ends extensions in the other order; one that fails or takes too long is told of, and does not keep the others. */
export async function destroyPlugins(
  { extensions }: Plugins,
  app: PluginApp,
  observer: Observer,
): Promise<void> {
  for (const [name, extension] of [...extensions].reverse()) {
    await rejectAfter(TIMEOUTS.destroy, () => extension.destroy?.({ app })).catch((error: unknown) =>
      observer.emit({ kind: 'pluginFailed', message: `extensions/${name} could not end`, error }),
    )
  }
}
