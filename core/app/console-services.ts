import { relative } from 'node:path'
import { onceResolved } from '../base/memo.ts'
import { isRecord } from '../base/plain-data.ts'
import { createRedactor } from '../base/redact.ts'
import { openSerialQueue } from '../base/serial-queue.ts'
import type { Simulate, SimulatedRequest } from '../console/simulation.ts'
import type { Database } from '../database/database.ts'
import type { SlowReads } from '../doctor/slow-reads.ts'
import { fault, RequestFault, tooManyRequests } from '../faults/fault.ts'
import type { OperationSettings, Settings } from '../project/settings/settings.ts'
import type { Blueprint } from './compile-app.ts'
import { secretsOf } from './observers.ts'
import type { RegisteredApp } from './open-plugins.ts'
import { openRequestProbe } from './request-probe.ts'
import type { ApiEndpointOptions } from './sections.ts'
import { printStartFault } from './start-fault.ts'

interface ConsoleServicesOptions {
  readonly registered: RegisteredApp
  readonly database: Database
  readonly slowReads: SlowReads
}

/** What the views of the console need of the running app. Nothing is opened before the first request. */
export const openConsoleServices = (
  blueprint: Blueprint,
  { registered, database, slowReads }: ConsoleServicesOptions,
): NonNullable<ApiEndpointOptions['console']> => ({
  database,
  simulate: openSimulation(blueprint, registered),
  plugins: describePlugins(blueprint, registered),
  slowReads: slowReads.list,
  redact: createRedactor(secretsOf(blueprint.project.settings)),
})

/** Maximum number of simulations that wait: each takes milliseconds. */
const MAX_WAITING = 20

/** One probe answers one request after the other. */
function openSimulation(blueprint: Blueprint, registered: RegisteredApp): Simulate {
  const { graphql } = blueprint.project.settings
  const enqueue = openSerialQueue({
    maxWaiting: MAX_WAITING,
    overflow: () => new RequestFault(tooManyRequests('Too many simulations wait')),
  })
  const open = onceResolved(async () => {
    const probe = await openRequestProbe(blueprint, registered)
    if (!probe.ok) throw new Error(probe.reasons.map(printStartFault).join('\n'))
    return probe.value
  })
  return async (request, caller) => {
    if (isGraphql(request, graphql)) checkGraphql(request, registered)
    const { method, path, body } = request
    const headers = body === null ? {} : { 'content-type': 'application/json' }
    const content = body === null ? null : Buffer.from(body)
    return enqueue(async () => (await open()).ask({ method, path, headers, body: content }, caller))
  }
}

const isGraphql = ({ path }: SimulatedRequest, { endpoints }: Settings['graphql']): boolean => {
  const [asked = ''] = path.toLowerCase().split('?')
  return Object.keys(endpoints).some(endpoint => `${asked}/`.startsWith(`${endpoint.toLowerCase()}/`))
}

/** Resolvers of extensions could run, and write: those projects are explained where no server runs. */
function checkGraphql({ body }: SimulatedRequest, { schemas }: RegisteredApp): void {
  const input: unknown = body === null ? null : JSON.parse(body)
  const message =
    schemas !== null
      ? 'extensions add to the GraphQL schema of this project: `plinth roles explain --request` explains its requests'
      : isRecord(input) && typeof input.query === 'string'
        ? null
        : 'the body of a GraphQL request is `{ "query": "…" }`'
  if (message !== null) throw new RequestFault(fault('validation', message))
}

/** Names only: configurations may contain secrets. */
function describePlugins({ project: { settings, root }, plugins }: Blueprint, registered: RegisteredApp) {
  const operations = [...Object.entries(settings.routesConfig), ...Object.entries(settings.resolversConfig)]
  const using = (names: (operation: OperationSettings) => readonly { readonly name: string }[]) =>
    operations.flatMap(([at, operation]) => {
      const found = names(operation).map(({ name }) => name)
      return found.length === 0 ? [] : [{ at, names: found }]
    })
  const everywhere = settings.middlewares.map(({ name }) => name)
  return {
    policies: using(({ policies }) => policies),
    middlewares: [
      ...(everywhere.length === 0 ? [] : [{ at: '*', names: everywhere }]),
      ...using(({ middlewares }) => middlewares),
    ],
    extensions: [...plugins.extensions.keys()].map(name => `extensions/${name}`),
    files: plugins.files.map(file => relative(root, file)),
    uses: [...new Set(registered.graphql.uses.map(({ by }) => by))],
    routes: [
      ...registered.routes.map(({ method, path, source }) => `${method} ${path} (${source})`),
      ...registered.mounts.map(({ path, source }) => `${path}/* (${source})`),
    ],
    documentMiddlewares: registered.documentMiddlewares.length,
    listeners: registered.listeners.map(({ key }) => key),
  }
}
