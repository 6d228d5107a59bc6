import type { ResolverMiddleware } from '../middleware.ts'
import type { BoundPolicy } from '../policies.ts'
import type { Door } from '../route-auth.ts'
import type { ResolverTerms } from './graphql-service.ts'
import { doorOf, type RouteBinding } from './rest-service.ts'

/** What stands before and round one resolver, with everything that it names found. */
export interface BoundResolver {
  readonly door: Door
  readonly policies: readonly BoundPolicy[]
  /** The first is outermost. */
  readonly middlewares: readonly ResolverMiddleware[]
}

const KEYS: readonly string[] = ['auth', 'policies', 'middlewares']

/** Throws Error, in a sentence, for what is no config of a resolver. */
export function bindResolver(terms: ResolverTerms, { binder, scopes }: RouteBinding): BoundResolver {
  const unknown = Object.keys(terms).find(key => !KEYS.includes(key))
  if (unknown !== undefined) throw new Error(`unknown key \`${unknown}\`: there are ${KEYS.join(', ')}`)
  const { auth, policies = [], middlewares = [] } = terms
  if (typeof auth === 'boolean' ? auth : auth !== undefined && typeof auth !== 'object')
    throw new Error('auth is false, or { scope: [...] }')
  return {
    door: doorOf(auth, scopes),
    policies: policies.map(use => binder.resolverPolicy(use)),
    middlewares: middlewares.map(use => binder.resolverMiddleware(use)),
  }
}
