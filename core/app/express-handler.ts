import { resolve } from 'node:path'
import { type AttachedServer, openAttachedServer } from '../http/attached-server.ts'
import type { PluginApp } from '../plugins/context.ts'
import type { ExpressMiddleware } from '../plugins/middleware.ts'
import type { Environment } from '../project/environment.ts'
import { compileApp } from './compile-app.ts'
import { serveApp } from './serve-app.ts'
import { findUnnamedDatabase, printStartFault, type StartFault, withOpenPaths } from './start-fault.ts'

export interface PlinthOptions {
  /** The folder of project.yaml. */
  readonly folder: string
  /** Default: `NODE_ENV` is `production`. */
  readonly production?: boolean
  /** For `${…}` in project.yaml; default: the environment of the process. */
  readonly env?: Environment
  /** Writes one line of the log; default: the standard output. */
  readonly write?: (line: string) => void
}

/** A middleware of Express that answers the requests to a project's API. */
export interface PlinthHandler extends ExpressMiddleware {
  /** As plugins see it: `api.app.documents('article')`. */
  readonly app: PluginApp
  /** Reads the project's files again. Resolves to false if they are wrong: the old version stays, and the log says why. */
  reload(): Promise<boolean>
  /** Answers the requests in flight and closes the database; later requests go to `next`. Idempotent. */
  close(): Promise<void>
}

/**
 * Opens a project inside an Express application: `app.use(await plinth({ folder }))`. It binds no port: `server.host` and
 * `server.port` have no effect. Rejects with everything that is wrong with the project.
 */
export async function plinth({
  folder,
  production = process.env.NODE_ENV === 'production',
  env = process.env,
  write = line => void process.stdout.write(line),
}: PlinthOptions): Promise<PlinthHandler> {
  const root = resolve(folder)
  const fail = (reasons: readonly StartFault[]): never => {
    throw new Error(reasons.map(withOpenPaths(root)).map(printStartFault).join('\n\n'))
  }
  const compiled = await compileApp(root, env, message => process.stderr.write(`${message}\n`))
  if (!compiled.ok) return fail([{ kind: 'files', diagnostics: compiled.reasons }])
  const unnamed = production ? await findUnnamedDatabase(compiled.value.project, env) : null
  if (unnamed) return fail([unnamed])
  let attached: AttachedServer | undefined
  const served = await serveApp(compiled.value, {
    ...{ env, write, production, pretty: false },
    async openServer(options) {
      attached = await openAttachedServer(options)
      return attached
    },
  })
  if (!served.ok) return fail(served.reasons)
  const handler: ExpressMiddleware = (request, response, next) => attached?.handle(request, response, next)
  return Object.defineProperties(handler, {
    app: { get: () => served.value.pluginApp(), enumerable: true },
    reload: { value: () => served.value.reload() },
    close: { value: () => served.value.close() },
  }) as PlinthHandler
}
