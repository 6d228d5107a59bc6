import type { ServedTerms } from '../http/desk.ts'
import { openHealth } from '../http/health.ts'
import type { RunningServer } from '../http/server.ts'
import type { ChangingObserver } from '../observe/changing-observer.ts'
import type { Observer } from '../observe/observation.ts'
import type { App } from './open-app.ts'

/** An app, and the log of its settings. */
export interface Running {
  readonly app: App
  readonly observer: Observer
}

/** A server, with what answers now and what does no longer. */
export interface Service {
  readonly server: RunningServer
  /** The log of whatever runs. */
  readonly log: ChangingObserver
  running: Running
  /** Files that changed since what runs was made of them: a reload that is refused leaves them here. */
  readonly unserved: Set<string>
  /** The ends of those before, which are still under way. */
  readonly retiring: Set<Promise<void>>
  /** Nothing is to take over any more. */
  isEnding: boolean
}

export function toServed({ app, observer }: Running): ServedTerms {
  const { responders, middlewares, blueprint, database } = app
  const health = openHealth(async () => (await database.ping()).ok)
  return {
    settings: blueprint.project.settings.server,
    responders: [...responders, health],
    middlewares,
    host: app.host(observer),
    observer,
  }
}

export function tellNews({ app, observer }: Running): void {
  for (const what of app.news) observer.tell({ kind: 'prepared', what })
}
