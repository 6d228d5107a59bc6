import { isDeepStrictEqual } from 'node:util'
import { deepFreeze } from '../base/plain-data.ts'
import type { Settings } from '../project/settings/settings.ts'
import type { Blueprint } from './compile-app.ts'

/** Settings that take effect only at a start: address, metrics, database connections. */
interface FixedSettings {
  readonly server: Pick<Settings['server'], 'host' | 'port' | 'metrics'>
  readonly database: Settings['database']
}

const fixedSettingsOf = ({ server: { host, port, metrics }, database }: Settings): FixedSettings => ({
  server: { host, port, metrics },
  database,
})

export interface Reloadable {
  readonly blueprint: Blueprint
  /** Changed keys that take effect only after a restart: `server.port`, `database.url`. */
  readonly restartKeys: readonly string[]
}

/** The new blueprint with the fixed settings of the running one. */
export function keepFixedSettings(running: Blueprint, next: Blueprint): Reloadable {
  const now = fixedSettingsOf(running.project.settings)
  const restartKeys = changedSettings(now, fixedSettingsOf(next.project.settings))
  if (restartKeys.length === 0) return { blueprint: next, restartKeys }
  const { settings } = next.project
  const server = { ...settings.server, ...now.server }
  const carried = deepFreeze({ ...settings, server, database: now.database })
  const project = Object.freeze({ ...next.project, settings: carried })
  return { blueprint: Object.freeze({ ...next, project }), restartKeys }
}

const changedSettings = (now: FixedSettings, wanted: FixedSettings): readonly string[] => [
  ...changedKeys('server', now.server, wanted.server),
  ...changedKeys('database', now.database, wanted.database),
]

const changedKeys = <Part extends object>(section: string, now: Part, wanted: Part): readonly string[] => {
  const kept = new Map(Object.entries(now))
  return Object.entries(wanted)
    .filter(([key, value]) => !isDeepStrictEqual(value, kept.get(key)))
    .map(([key]) => `${section}.${key}`)
}
