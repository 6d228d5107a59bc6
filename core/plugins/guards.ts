import type { Registered } from './register.ts'
import { compileGuard, type GuardTerms, type RouteGuard } from './route-guard.ts'

/** subject → action → what guards its route. Routes that nothing is said of are not in it. */
export type RouteGuards = ReadonlyMap<string, ReadonlyMap<string, RouteGuard>>

export function compileGuards({ routesConfig }: Registered, terms: GuardTerms): RouteGuards {
  const guards = new Map<string, Map<string, RouteGuard>>()
  for (const [route, guarded] of routesConfig) {
    const [subject = '', action = ''] = route.split('.')
    const actions = guards.get(subject) ?? new Map<string, RouteGuard>()
    guards.set(subject, actions.set(action, compileGuard(guarded, terms)))
  }
  return guards
}
