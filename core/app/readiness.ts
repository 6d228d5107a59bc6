import type { Responder } from '../faults/http-exchange.ts'
import { openHealth, type Readiness } from '../http/health.ts'
import { refuseOutdated } from '../http/service-unavailable.ts'
import type { App } from './open-app.ts'

/** `/_health` and `/_ready` of an app. */
export const healthOf = (app: App): Responder =>
  openHealth({
    readiness: () => readinessOf(app),
    states: () => app.database.replicas?.states() ?? [],
  })

async function readinessOf({ database, generation }: App): Promise<Readiness> {
  const ping = await database.ping()
  if (!ping.ok) return ping.isReadonly ? 'read-only' : 'unavailable'
  return (await generation.check()) ? 'ready' : 'outdated'
}

/** Refuses what comes while the tables are those of another version of the project. */
export function refuseOf({ generation, blueprint }: App): Responder {
  const { endpoint } = blueprint.project.settings.graphql.config
  return refuseOutdated({
    isOutdated: generation.isOutdated,
    onRefused: generation.checkAgain,
    graphql: endpoint,
  })
}
