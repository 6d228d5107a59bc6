import { notFound } from '../faults/fault.ts'
import { type Responder, toFaultResponse } from '../faults/http-exchange.ts'
import type { GraphqlTerms } from './open-graphql.ts'

/**
 * The endpoint and what lies below it, opened when somebody first asks: until then a server that speaks REST alone
 * carries neither the schema nor the libraries that make it.
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
