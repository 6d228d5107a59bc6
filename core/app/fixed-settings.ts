import { isDeepStrictEqual } from 'node:util'
import { deepFreeze } from '../base/plain-data.ts'
import type { Settings } from '../project/settings/settings.ts'
import type { Blueprint } from './compile-app.ts'

/** What a process takes up once, when it starts: where it listens, what it counts, and what its connections to the database are. */
interface Fixed {
  readonly server: Pick<Settings['server'], 'host' | 'port' | 'metrics'>
  readonly database: Settings['database']
}

const fixedOf = ({ server: { host, port, metrics }, database }: Settings): Fixed => ({
  server: { host, port, metrics },
  database,
})

export interface Carried {
  readonly blueprint: Blueprint
  /** What a restart would change: `server.port`, `database.url`. */
  readonly held: readonly string[]
}

/** A new state of the project with what only a restart can change as the running one has it. */
export function carryOver(running: Blueprint, next: Blueprint): Carried {
  const now = fixedOf(running.project.settings)
  const held = differences(now, fixedOf(next.project.settings))
  if (held.length === 0) return { blueprint: next, held }
  const { settings } = next.project
  const server = { ...settings.server, ...now.server }
  const carried = deepFreeze({ ...settings, server, database: now.database })
  const project = Object.freeze({ ...next.project, settings: carried })
  return { blueprint: Object.freeze({ ...next, project }), held }
}

const differences = (now: Fixed, wanted: Fixed): readonly string[] => [
  ...keysThatDiffer('server', now.server, wanted.server),
  ...keysThatDiffer('database', now.database, wanted.database),
]

const keysThatDiffer = <Part extends object>(section: string, now: Part, wanted: Part): readonly string[] => {
  const kept = new Map(Object.entries(now))
  return Object.entries(wanted)
    .filter(([key, value]) => !isDeepStrictEqual(value, kept.get(key)))
    .map(([key]) => `${section}.${key}`)
}
