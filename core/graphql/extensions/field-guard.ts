import { isDeepStrictEqual } from 'node:util'
import { GraphQLError, type GraphQLFieldResolver, type GraphQLResolveInfo } from 'graphql'
import { UnavailableError } from '../../faults/errors.ts'
import { forbidden, RequestFault } from '../../faults/fault.ts'
import type { GraphqlContext, ResolverContext, ResolverInfo } from '../../plugins/context.ts'
import type { ResolverMiddleware } from '../../plugins/middleware.ts'
import { askPolicies, type BoundPolicy, type PolicyTerms } from '../../plugins/policies.ts'
import type { Enter } from '../../plugins/route-auth.ts'
import type { Resolver } from '../../plugins/services/graphql-service.ts'
import type { Arguments } from '../parse/operation-context.ts'
import { toGraphqlError } from '../parse/to-graphql-error.ts'
import type { ExecutionContext } from '../resolve/resolve-read.ts'
import type { NexusWrap } from './nexus-part.ts'

/** The resolver of a field as graphql-js calls it. */
export type FieldResolver = GraphQLFieldResolver<unknown, ExecutionContext, Arguments>

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
  readonly reread: ((visit: ResolverCall) => Promise<unknown>) | null
  /** Makes of what code answered what fields below find their values in. */
  readonly hydrate: (value: unknown, visit: ResolverCall) => unknown
}

/** One call of a resolver. */
export interface ResolverCall {
  readonly parent: unknown
  readonly args: Arguments
  readonly execution: ExecutionContext
  readonly info: GraphQLResolveInfo
  /** The same however code changes the rest. */
  readonly original: OriginalCall
}

interface OriginalCall {
  /** The client's. */
  readonly args: Arguments
  /** What the generated resolver answered. */
  readonly generated: unknown[]
}

type GuardStep = (visit: ResolverCall) => unknown

/** auth, middlewares (the first outermost), policies in order, plugins of nexus, the resolver (contract/graphql.md 9). */
export function guardField(guard: FieldGuard, terms: PolicyTerms): FieldResolver {
  const answer = withMiddlewares(guard, withPolicies(guard, terms, innerResolver(guard)))
  // Code may change them in place.
  const asked = (args: Arguments): Arguments => (guard.reread ? structuredClone(args) : args)
  return async (parent, args, acting, info) => {
    const caller = guard.enter(acting.caller)
    if (!caller) throw toGraphqlError(forbidden())
    const entered = caller === acting.caller ? acting : { ...acting, caller }
    const visit: ResolverCall = {
      parent,
      args,
      execution: entered,
      info,
      original: { args: asked(args), generated: [] },
    }
    try {
      return await guard.hydrate(await answer(visit), visit)
    } catch (error) {
      throw toResolverError(error, heard =>
        terms.observer.emit({ kind: 'failed', requestId: acting.requestId, error: heard }),
      )
    }
  }
}

const withMiddlewares = ({ middlewares }: FieldGuard, inside: GuardStep): GuardStep =>
  middlewares.reduceRight<GuardStep>(
    (inner, middleware) => visit => {
      const { parent, args, execution: acting, info } = visit
      const next = async (...given: readonly unknown[]) => inner(withChanges(visit, given))
      return middleware(next, parent, args, resolverContext(acting), toInfo(info))
    },
    inside,
  )

/** A middleware may leave out what it does not change; the context is the request's own throughout. */
const withChanges = (visit: ResolverCall, [parent, args, , info]: readonly unknown[]): ResolverCall => ({
  parent: parent === undefined ? visit.parent : parent,
  args: args === undefined ? visit.args : (args as Arguments),
  execution: visit.execution,
  original: visit.original,
  info: info === undefined ? visit.info : (info as GraphQLResolveInfo),
})

function withPolicies({ policies }: FieldGuard, terms: PolicyTerms, inside: GuardStep): GuardStep {
  if (policies.length === 0) return inside
  return async visit => {
    const refusal = await askPolicies(policies, policyContext(visit), terms)
    if (refusal) throw toGraphqlError(refusal)
    return inside(visit)
  }
}

function policyContext({ parent, args, execution: acting, info }: ResolverCall): GraphqlContext {
  const context = resolverContext(acting)
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

function innerResolver({ wraps, custom, generated, reread: readAnew }: FieldGuard): GuardStep {
  const generate = async (visit: ResolverCall): Promise<unknown> => {
    const isChanged =
      readAnew !== null && !isDeepStrictEqual(structuredClone(visit.args), visit.original.args)
    const answered: unknown = await (isChanged
      ? readAnew(visit)
      : generated?.(visit.parent, visit.args, visit.execution, visit.info))
    visit.original.generated.push(answered)
    return answered
  }
  const answer: GuardStep = visit =>
    custom ? callCustom(custom, visit, generated ? generate : null) : generate(visit)
  return wraps.reduceRight<GuardStep>(
    (step, wrap) => visit => {
      const next: GraphQLFieldResolver<unknown, unknown> = (...given) => step(withChanges(visit, given))
      return wrap(visit.parent, visit.args, resolverContext(visit.execution), visit.info, next)
    },
    answer,
  )
}

function callCustom(
  custom: Resolver,
  visit: ResolverCall,
  generate: ((visit: ResolverCall) => Promise<unknown>) | null,
): unknown {
  const { parent, args, execution: acting, info } = visit
  const generated = generate ? (other: Arguments = args) => generate({ ...visit, args: other }) : undefined
  return custom(parent, args, resolverContext(acting), toInfo(info), generated)
}

/** What plugins see of graphql-js's own. */
const toInfo = (info: GraphQLResolveInfo): ResolverInfo => info as GraphQLResolveInfo & ResolverInfo

function resolverContext({ pluginRequest: visit }: ExecutionContext): ResolverContext {
  if (visit) return visit.context
  throw new TypeError('an operation with code of the project needs the request that it came with')
}

/**
 * What code of the project threw, as GraphQL tells it (contract/graphql.md 10): errors of the contract with their
 * code, a plain Error with its message, which `log` hears of, too. Any other trouble is the log's alone.
 */
function toResolverError(error: unknown, log: (error: Error) => void): unknown {
  // What became of the data is known where the whole field is.
  if (error instanceof UnavailableError) return error
  if (error instanceof RequestFault) return toGraphqlError(error.fault)
  if (error instanceof GraphQLError) return error
  if (isForeign(error)) return new GraphQLError(error.message, { extensions: error.extensions })
  if (!isPlain(error)) return error
  log(error)
  return new GraphQLError(error.message, {
    originalError: error,
    extensions: { code: 'INTERNAL_SERVER_ERROR' },
  })
}

/** Made by the copy of the GraphQL library that the project has. */
const isForeign = (
  error: unknown,
): error is Error & { readonly extensions: Readonly<Record<string, unknown>> } =>
  error instanceof Error &&
  error.name === 'GraphQLError' &&
  'extensions' in error &&
  typeof error.extensions === 'object'

/** Errors of libraries and of the database have a class or properties of their own, and may tell too much. */
const isPlain = (error: unknown): error is Error =>
  error instanceof Error &&
  Object.getPrototypeOf(error) === Error.prototype &&
  Object.keys(error).length === 0
