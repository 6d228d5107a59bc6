import { once } from 'node:events'
import type { RequestHandler } from 'express'
import { withWrites } from '../database/request-scope.ts'
import { type HttpRequest, type HttpResponse, isSafeMethod, type Responder } from '../faults/http-exchange.ts'
import type { MountedRequest } from '../plugins/extension.ts'
import { compileGuard, type GuardOptions, type RouteGuard, type RouterMount } from '../plugins/route-guard.ts'
import { routeArguments } from '../rest/endpoint.ts'
import { openExpressFallback } from './express-fallback.ts'
import type { FailureOptions } from './write-answer.ts'

interface MountOptions extends GuardOptions, FailureOptions {
  /** Of REST: `/api`. */
  readonly prefix: string
}

/**
 * The Express routers of extensions. A request enters a router after auth and policies of its mount; what the router
 * does not answer gets the answers of the API (404, errors). Each router is loaded at its first request.
 */
export function openMountedRouters(
  mounts: readonly RouterMount[],
  options: MountOptions,
): readonly Responder[] {
  if (mounts.length === 0) return []
  const opened = mounts.map(mount => openMount(mount, options))
  return [
    request => {
      const path = `${request.path}/`.toLowerCase()
      return opened.find(({ start }) => path.startsWith(start))?.respond(request) ?? null
    },
  ]
}

interface OpenMount {
  /** In lower case, with a slash at the end. */
  readonly start: string
  respond(request: HttpRequest): Promise<HttpResponse>
}

function openMount(mount: RouterMount, options: MountOptions): OpenMount {
  const { path, auth, policies, router } = mount
  const info = { route: `${path}/*`, type: null, action: 'mount' }
  const guard: RouteGuard = compileGuard({ info, auth, own: null, policies, middlewares: [] }, options, true)
  const load = openExpressFallback(app => {
    app.use(`${options.prefix}${path}`, router as RequestHandler)
  }, options)
  return {
    start: `${options.prefix}${path}/`.toLowerCase(),
    respond(request) {
      request.route = info.route
      return guard({
        request,
        args: routeArguments({}),
        handle: async (_current, _caller, context) => {
          if (!context) throw new TypeError('a mounted router has a context')
          const { app } = options
          return takenOver(request, load, { app, state: context.state, requestId: request.id })
        },
      })
    },
  }
}

/** Passes the request on to the router. Transactions of a request that may write belong to the request. */
function takenOver(
  request: HttpRequest,
  load: ReturnType<typeof openExpressFallback>,
  plinth: MountedRequest,
): HttpResponse {
  return {
    status: 200,
    body: null,
    async takeOver(incoming, response) {
      const listener = await load()
      const run = async () => {
        const closed = once(response, 'close')
        Object.assign(response, { locals: { ...localsOf(response), plinth } })
        listener(incoming, response)
        await closed
      }
      return isSafeMethod(request.method) || !request.writes ? run() : withWrites(request.writes, run)
    },
  }
}

/** Middlewares of the whole server may have set some. */
const localsOf = (response: object): object => ('locals' in response ? Object(response.locals) : {})
