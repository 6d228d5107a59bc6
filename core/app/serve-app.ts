import { failed, ok, type Result } from '../base/result.ts'
import type { DatabaseObservation } from '../database/observation.ts'
import { openHealth } from '../http/health.ts'
import { openServer } from '../http/server.ts'
import { openLog } from '../observe/log.ts'
import type { Observation, Observer } from '../observe/observation.ts'
import type { Settings } from '../project/settings.ts'
import { createRedactor } from '../secrets/redact.ts'
import type { Blueprint } from './compile-app.ts'
import { type App, type OpenTerms, openApp } from './open-app.ts'
import { secretsOf } from './secrets-of.ts'
import type { StartFault } from './start-fault.ts'

export interface ServeTerms {
  /** Where the log goes, a line at a time. */
  readonly write: (line: string) => void
  /** Sentences instead of JSON. */
  readonly pretty: boolean
  /** Where nothing is made up that a deployment must be given. */
  readonly production: boolean
}

export interface ServedApp {
  readonly url: string
  /** Writes down what code rejected with that nobody waited for: a plugin's, most likely. */
  tellUnheard(error: unknown): void
  /** Takes no more requests, answers what is under way, closes the database. */
  close(): Promise<void>
}

/** Blueprint → an app that listens, and says in its log where; or every reason why not. */
export async function serveApp(
  blueprint: Blueprint,
  terms: ServeTerms,
): Promise<Result<ServedApp, StartFault>> {
  const observer = observerOf(blueprint, terms)
  const opened = await openObserved(blueprint, observer, terms)
  if (!opened.ok) return opened
  for (const what of opened.value.news) observer.tell({ kind: 'prepared', what })
  return listen(opened.value, blueprint.project.settings, observer)
}

/** A log in which none of the project's secrets shows. */
export const observerOf = (
  { project: { settings } }: Blueprint,
  terms: Pick<ServeTerms, 'write' | 'pretty'>,
): Observer =>
  openLog({ ...terms, level: settings.server.logLevel, redact: createRedactor(secretsOf(settings)) })

/** Blueprint → an app whose database tells the observer what happens to it. */
export const openObserved = (
  blueprint: Blueprint,
  observer: Observer,
  terms: Pick<OpenTerms, 'production' | 'embedded'>,
): Promise<Result<App, StartFault>> =>
  openApp(blueprint, { ...terms, observer, observe: seen => observer.tell(toObservation(seen)) })

async function listen(
  app: App,
  settings: Settings,
  observer: Observer,
): Promise<Result<ServedApp, StartFault>> {
  const health = openHealth(async () => (await app.database.ping()).ok)
  const { responders, middlewares, host } = app
  const server = await openServer({
    settings: settings.server,
    responders: [...responders, health],
    middlewares,
    host: host(observer),
    observer,
  })
  if (!server.ok) {
    await app.close()
    return failed(...server.reasons.map((message): StartFault => ({ kind: 'other', message })))
  }
  observer.tell({ kind: 'prepared', what: `REST is at ${server.value.url}${settings.rest.prefix}` })
  return ok({
    url: server.value.url,
    tellUnheard: error => observer.tell({ kind: 'pluginFailed', message: UNHEARD, error }),
    async close() {
      await server.value.close(settings.server.requestTimeout)
      await app.close()
    },
  })
}

const UNHEARD = 'Something failed that nobody waited for (a promise without await?)'

function toObservation(seen: DatabaseObservation): Observation {
  switch (seen.event) {
    case 'database.opened':
      return { kind: 'databaseOpened', database: seen.kind, milliseconds: seen.milliseconds }
    case 'database.recovered':
      return { kind: 'databaseRecovered', pid: seen.pid }
    case 'database.connection-lost':
      return { kind: 'connectionLost', message: seen.message }
    case 'database.upkeep-failed':
      return { kind: 'upkeepFailed', message: seen.message }
  }
}
