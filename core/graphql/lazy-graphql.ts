import { onceResolved } from '../base/memo.ts'
import { notFound } from '../faults/fault.ts'
import { type HttpRequest, type Responder, toFaultResponse } from '../faults/http-exchange.ts'
import type { GraphqlOptions } from './open-graphql.ts'

/**
 * The endpoints and the paths below them, each opened at its first request: a server that serves only REST loads neither
 * a schema nor the GraphQL libraries.
 */
export function openLazyGraphql(options: GraphqlOptions): Responder {
  const endpoints = Object.entries(options.settings.endpoints).map(([path, format]) => ({
    path,
    open: onceResolved(async () => {
      const { openGraphql } = await import('./open-graphql.ts')
      return openGraphql(options, { path, format })
    }),
  }))
  return request => {
    const endpoint = endpoints.find(({ path }) => isBelow(request, path))
    if (!endpoint) return null
    request.route = 'graphql'
    return endpoint.open().then(async respond => (await respond(request)) ?? toFaultResponse(notFound()))
  }
}

const isBelow = ({ path }: HttpRequest, endpoint: string): boolean =>
  path === endpoint || path.startsWith(`${endpoint}/`)
