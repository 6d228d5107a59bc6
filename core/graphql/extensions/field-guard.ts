import { isDeepStrictEqual } from 'node:util'
import type { GraphQLFieldResolver, GraphQLResolveInfo } from 'graphql'
import { forbidden } from '../../faults/fault.ts'
import type { GraphqlContext, ResolverContext, ResolverInfo } from '../../plugins/context.ts'
import type { ResolverMiddleware } from '../../plugins/middleware.ts'
import { askPolicies, type BoundPolicy, type PolicyTerms } from '../../plugins/policies.ts'
import type { Enter } from '../../plugins/route-auth.ts'
import type { Resolver } from '../../plugins/services/graphql-service.ts'
import type { Arguments } from '../parse/operation-context.ts'
import { toGraphqlError } from '../parse/to-graphql-error.ts'
import type { Acting } from '../resolve/resolve-read.ts'
import type { NexusWrap } from './nexus-part.ts'
import { codeError } from './resolver-error.ts'

/** The resolver of a field as graphql-js calls it. */
export type FieldResolver = GraphQLFieldResolver<unknown, Acting, Arguments>

/** All that stands before, round and in place of one resolver. */
export interface FieldGuard {
  readonly enter: Enter
  readonly middlewares: readonly ResolverMiddleware[]
  readonly policies: readonly BoundPolicy[]
  readonly wraps: readonly NexusWrap[]
  /** An extension's own; null: the generated one answers. */
  readonly custom: Resolver | null
  /** null: there is none, the field is an extension's. */
  readonly generated: FieldResolver | null
  /** Reads rows with changed arguments, where those of the client are read before the field resolves; else null. */
  readonly readAnew: ((visit: Visit) => Promise<unknown>) | null
  /** Makes of what code answered what fields below find their values in. */
  readonly adopt: (value: unknown, visit: Visit) => unknown
}

/** One call of a resolver. */
export interface Visit {
  readonly parent: unknown
  readonly args: Arguments
  readonly acting: Acting
  readonly info: GraphQLResolveInfo
  /** The same however code changes the rest. */
  readonly asked: Asked
}

interface Asked {
  /** The client's. */
  readonly args: Arguments
  /** What the generated resolver answered. */
  readonly inner: unknown[]
}

type Step = (visit: Visit) => unknown

/** auth, middlewares (the first outermost), policies in order, plugins of nexus, the resolver (contract/graphql.md 9). */
export function guardField(guard: FieldGuard, terms: PolicyTerms): FieldResolver {
  const answer = withMiddlewares(guard, withPolicies(guard, terms, resolverOf(guard)))
  // Code may change them in place.
  const asked = (args: Arguments): Arguments => (guard.readAnew ? structuredClone(args) : args)
  return async (parent, args, acting, info) => {
    const caller = guard.enter(acting.caller)
    if (!caller) throw toGraphqlError(forbidden())
    const entered = caller === acting.caller ? acting : { ...acting, caller }
    const visit: Visit = { parent, args, acting: entered, info, asked: { args: asked(args), inner: [] } }
    try {
      return await guard.adopt(await answer(visit), visit)
    } catch (error) {
      throw codeError(error, heard =>
        terms.observer.emit({ kind: 'failed', requestId: acting.requestId, error: heard }),
      )
    }
  }
}

const withMiddlewares = ({ middlewares }: FieldGuard, inside: Step): Step =>
  middlewares.reduceRight<Step>(
    (inner, middleware) => visit => {
      const { parent, args, acting, info } = visit
      const next = async (...given: readonly unknown[]) => inner(changed(visit, given))
      return middleware(next, parent, args, contextOf(acting), toInfo(info))
    },
    inside,
  )

/** A middleware may leave out what it does not change; the context is the request's own throughout. */
const changed = (visit: Visit, [parent, args, , info]: readonly unknown[]): Visit => ({
  parent: parent === undefined ? visit.parent : parent,
  args: args === undefined ? visit.args : (args as Arguments),
  acting: visit.acting,
  asked: visit.asked,
  info: info === undefined ? visit.info : (info as GraphQLResolveInfo),
})

function withPolicies({ policies }: FieldGuard, terms: PolicyTerms, inside: Step): Step {
  if (policies.length === 0) return inside
  return async visit => {
    const refusal = await askPolicies(policies, policyContext(visit), terms)
    if (refusal) throw toGraphqlError(refusal)
    return inside(visit)
  }
}

function policyContext({ parent, args, acting, info }: Visit): GraphqlContext {
  const context = contextOf(acting)
  return {
    ...context,
    kind: 'graphql',
    parent,
    args,
    context,
    info: toInfo(info),
    is: kind => kind === 'graphql',
  }
}

function resolverOf({ wraps, custom, generated, readAnew }: FieldGuard): Step {
  const generate = async (visit: Visit): Promise<unknown> => {
    const isChanged = readAnew !== null && !isDeepStrictEqual(structuredClone(visit.args), visit.asked.args)
    const answered: unknown = await (isChanged
      ? readAnew(visit)
      : generated?.(visit.parent, visit.args, visit.acting, visit.info))
    visit.asked.inner.push(answered)
    return answered
  }
  const answer: Step = visit => (custom ? ask(custom, visit, generated ? generate : null) : generate(visit))
  return wraps.reduceRight<Step>(
    (step, wrap) => visit => {
      const next: GraphQLFieldResolver<unknown, unknown> = (...given) => step(changed(visit, given))
      return wrap(visit.parent, visit.args, contextOf(visit.acting), visit.info, next)
    },
    answer,
  )
}

function ask(custom: Resolver, visit: Visit, generate: ((visit: Visit) => Promise<unknown>) | null): unknown {
  const { parent, args, acting, info } = visit
  const generated = generate ? (other: Arguments = args) => generate({ ...visit, args: other }) : undefined
  return custom(parent, args, contextOf(acting), toInfo(info), generated)
}

/** What plugins see of graphql-js's own. */
const toInfo = (info: GraphQLResolveInfo): ResolverInfo => info as GraphQLResolveInfo & ResolverInfo

function contextOf({ visit }: Acting): ResolverContext {
  if (visit) return visit.context
  throw new TypeError('an operation with code of the project needs the request that it came with')
}
