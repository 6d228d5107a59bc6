import { notFound } from '../faults/fault.ts'
import { type Responder, toFaultResponse } from '../faults/http-exchange.ts'
import type { GraphqlTerms } from './open-graphql.ts'

/**
 * The endpoint and the paths below it, opened at the first request: a server that serves only REST loads neither the
 * schema nor the GraphQL libraries.
 */
export function openLazyGraphql(terms: GraphqlTerms): Responder {
  const { endpoint } = terms.settings.config
  let opening: Promise<Responder> | undefined
  return request => {
    if (request.path !== endpoint && !request.path.startsWith(`${endpoint}/`)) return null
    request.route = 'graphql'
    opening ??= import('./open-graphql.ts').then(({ openGraphql }) => openGraphql(terms))
    return opening.then(async respond => (await respond(request)) ?? toFaultResponse(notFound()))
  }
}
