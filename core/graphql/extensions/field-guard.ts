import { isDeepStrictEqual } from 'node:util'
import { GraphQLError, type GraphQLFieldResolver, type GraphQLResolveInfo } from 'graphql'
import { type Action, subjectOf } from '../../access/actions.ts'
import type { PermissionScope } from '../../access/permission-scopes.ts'
import { hintFor } from '../../base/nearest.ts'
import { isPromise } from '../../base/with-timeout.ts'
import { UnavailableError } from '../../faults/errors.ts'
import { RequestFault } from '../../faults/fault.ts'
import { isLink, type Model } from '../../model/model.ts'
import { graphqlTypeName } from '../../model/names.ts'
import type { GraphqlContext, ResolverContext, ResolverInfo } from '../../plugins/context.ts'
import type { ResolverMiddleware } from '../../plugins/middleware.ts'
import {
  type Authorize,
  compileAuthorize,
  type RouteAuth,
  type RouteAuthOptions,
} from '../../plugins/route-guard.ts'
import { type BoundPolicy, checkPolicies, type PolicyOptions } from '../../plugins/run-plugins.ts'
import type { Resolver } from '../../plugins/services/graphql-service.ts'
import type { GraphqlFormat } from '../formats/format.ts'
import type { Arguments } from '../parse/operation-context.ts'
import { toGraphqlError } from '../parse/to-graphql-error.ts'
import type { ExecutionContext } from '../resolve/resolver-context.ts'
import type { RootField } from '../sdl/root-fields.ts'
import type { NexusWrap } from './nexus-part.ts'

/** A resolver as graphql-js calls it. */
export type FieldResolver = GraphQLFieldResolver<unknown, ExecutionContext, Arguments>

/** Everything that runs before, around and in place of a field's resolver. */
export interface FieldGuard {
  readonly enter: Authorize
  readonly middlewares: readonly ResolverMiddleware[]
  readonly policies: readonly BoundPolicy[]
  readonly wraps: readonly NexusWrap[]
  /** The extension's resolver; null: only the generated one. */
  readonly custom: Resolver | null
  /** null: the field belongs to an extension. */
  readonly generated: FieldResolver | null
  /** Reads rows again with changed arguments; null: the field's rows are not prefetched. */
  readonly reread: ((call: ResolverCall) => Promise<unknown>) | null
  /** Converts the result of project code to rows for the fields below. */
  readonly hydrate: (value: unknown, call: ResolverCall) => unknown
}

/** One call of a resolver. */
export interface ResolverCall {
  readonly parent: unknown
  readonly args: Arguments
  readonly execution: ExecutionContext
  readonly info: GraphQLResolveInfo
  /** The unchanged call. */
  readonly original: OriginalCall
}

interface OriginalCall {
  /** The client's arguments. */
  readonly args: Arguments
  /** Results of the generated resolver. */
  readonly generated: unknown[]
}

type GuardStep = (call: ResolverCall) => unknown

/**
 * Composes auth, middlewares (the first outermost), policies in order, nexus plugins and the resolver
 * (reference/graphql.md#9-extension-service). It answers without a promise if all of these do, since a list calls it for each row.
 */
export function guardField(guard: FieldGuard, options: PolicyOptions): FieldResolver {
  const answer = withMiddlewares(guard, withPolicies(guard, options, innerResolver(guard)))
  // Project code may mutate its arguments.
  const asked = (args: Arguments): Arguments => (guard.reread ? structuredClone(args) : args)
  return (parent, args, execution, info) => {
    const caller = guard.enter(execution.caller)
    const entered = caller === execution.caller ? execution : { ...execution, caller }
    const call: ResolverCall = {
      parent,
      args,
      execution: entered,
      info,
      original: { args: asked(args), generated: [] },
    }
    const fail = (error: unknown): never => {
      throw toResolverError(error, heard =>
        options.observer.emit({ kind: 'failed', requestId: execution.requestId, error: heard }),
      )
    }
    try {
      const answered = answer(call)
      const hydrated = isPromise(answered)
        ? Promise.resolve(answered).then(value => guard.hydrate(value, call))
        : guard.hydrate(answered, call)
      return isPromise(hydrated) ? Promise.resolve(hydrated).catch(fail) : hydrated
    } catch (error) {
      return fail(error)
    }
  }
}

const withMiddlewares = ({ middlewares }: FieldGuard, inside: GuardStep): GuardStep =>
  middlewares.reduceRight<GuardStep>(
    (inner, middleware) => call => {
      const { parent, args, execution, info } = call
      let found: unknown
      const next = async (...input: readonly unknown[]) => {
        found = await inner(withChanges(call, input))
        return found
      }
      const check = (answered: unknown): unknown => {
        if (answered !== undefined || found === undefined || found === null) return answered
        throw new TypeError(
          `a middleware of ${info.parentType.name}.${info.fieldName} called next() and answered nothing: it must return a value, or null`,
        )
      }
      const answered = middleware(next, parent, args, resolverContext(execution), toInfo(info))
      return isPromise(answered) ? Promise.resolve(answered).then(check) : check(answered)
    },
    inside,
  )

/** Middlewares may omit unchanged arguments; they cannot replace the context. */
const withChanges = (call: ResolverCall, [parent, args, , info]: readonly unknown[]): ResolverCall => ({
  parent: parent === undefined ? call.parent : parent,
  args: args === undefined ? call.args : (args as Arguments),
  execution: call.execution,
  original: call.original,
  info: info === undefined ? call.info : (info as GraphQLResolveInfo),
})

function withPolicies({ policies }: FieldGuard, options: PolicyOptions, inside: GuardStep): GuardStep {
  if (policies.length === 0) return inside
  return async call => {
    const refusal = await checkPolicies(policies, policyContext(call), options)
    if (refusal) throw toGraphqlError(refusal)
    return inside(call)
  }
}

function policyContext({ parent, args, execution, info }: ResolverCall): GraphqlContext {
  const context = resolverContext(execution)
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

function innerResolver({ wraps, custom, generated, reread }: FieldGuard): GuardStep {
  const generate = async (call: ResolverCall): Promise<unknown> => {
    assertKnownArguments(call)
    const isChanged = reread !== null && !isDeepStrictEqual(structuredClone(call.args), call.original.args)
    try {
      const answered: unknown = await (isChanged
        ? reread(call)
        : generated?.(call.parent, call.args, call.execution, call.info))
      call.original.generated.push(answered)
      return answered
    } catch (error) {
      throw toClientError(error)
    }
  }
  const answer: GuardStep = call =>
    custom ? callCustom(custom, call, generated ? generate : null) : generate(call)
  return wraps.reduceRight<GuardStep>(
    (step, wrap) => call => {
      const next: GraphQLFieldResolver<unknown, unknown> = (...input) => step(withChanges(call, input))
      return wrap(call.parent, call.args, resolverContext(call.execution), call.info, next)
    },
    answer,
  )
}

/** A misspelt `filters` of project code would select all documents. */
function assertKnownArguments({ args, info: { parentType, fieldName } }: ResolverCall): void {
  const known = parentType.getFields()[fieldName]?.args ?? []
  const unknown = Object.keys(args).find(key => known.every(({ name }) => name !== key))
  if (unknown === undefined) return
  const names = known.map(({ name }) => name)
  throw new TypeError(
    `${parentType.name}.${fieldName} has no argument \`${unknown}\`${hintFor(unknown, names)}`,
  )
}

function callCustom(
  custom: Resolver,
  call: ResolverCall,
  generate: ((call: ResolverCall) => Promise<unknown>) | null,
): unknown {
  const { parent, args, execution, info } = call
  const generated = generate ? (other: Arguments = args) => generate({ ...call, args: other }) : undefined
  return custom(parent, args, resolverContext(execution), toInfo(info), generated)
}

/** graphql-js's info with the plugin API's type. */
const toInfo = (info: GraphQLResolveInfo): ResolverInfo => info as GraphQLResolveInfo & ResolverInfo

function resolverContext({ pluginRequest: call }: ExecutionContext): ResolverContext {
  if (call) return call.context
  throw new TypeError('an operation with code of the project needs the request that it came with')
}

/** A refusal as clients see it. The write outcome of an outage is known only where the whole field failed. */
const toClientError = (error: unknown): unknown =>
  error instanceof RequestFault && !(error instanceof UnavailableError) ? toGraphqlError(error.fault) : error

/**
 * Converts an error of project code (reference/graphql.md#10-errors): errors of the plugin API keep their code; a plain Error
 * keeps its message and is logged. All others are only logged.
 */
function toResolverError(error: unknown, log: (error: Error) => void): unknown {
  if (error instanceof RequestFault) return toClientError(error)
  if (error instanceof GraphQLError) return error
  if (isForeign(error)) return new GraphQLError(error.message, { extensions: error.extensions })
  if (!isPlain(error)) return error
  log(error)
  return new GraphQLError(error.message, {
    originalError: error,
    extensions: { code: 'INTERNAL_SERVER_ERROR' },
  })
}

/** A GraphQLError of the project's own copy of graphql-js. */
const isForeign = (
  error: unknown,
): error is Error & { readonly extensions: Readonly<Record<string, unknown>> } =>
  error instanceof Error &&
  error.name === 'GraphQLError' &&
  'extensions' in error &&
  typeof error.extensions === 'object'

/** Errors with a class or properties of their own come from libraries or the database and may disclose internals. */
const isPlain = (error: unknown): error is Error =>
  error instanceof Error &&
  Object.getPrototypeOf(error) === Error.prototype &&
  Object.keys(error).length === 0

export interface FieldAuth {
  enter(field: AuthField): Authorize
}

interface AuthField {
  readonly coordinate: string
  readonly isGenerated: boolean
  readonly auth: RouteAuth
}

interface FieldAuthOptions {
  readonly model: Model
  readonly format: GraphqlFormat
  readonly code: RouteAuthOptions
}

/** Access rules of fields (reference/graphql.md#8-permissions, reference/graphql.md#9-extension-service). */
export function openFieldAuth(
  roots: readonly RootField[],
  { model, format, code }: FieldAuthOptions,
): FieldAuth {
  const scopes = new Map([...rootScopes(roots), ...linkScopes(model, format)])
  return {
    enter({ coordinate, isGenerated, auth }) {
      const own = scopes.get(coordinate) ?? null
      if (auth.kind !== 'own')
        return compileAuthorize(auth, own ?? FIXED_SCOPES.get(coordinate) ?? null, code)
      // Fixed fields check their own permission; custom fields below the root have none.
      const asks = own !== null || (!isGenerated && isRoot(coordinate))
      return asks ? compileAuthorize(auth, own, code) : caller => caller
    },
  }
}

const isRoot = (coordinate: string): boolean => /^(Query|Mutation)\./.test(coordinate)

const rootScopes = (roots: readonly RootField[]): readonly (readonly [string, PermissionScope])[] =>
  roots.map(({ root, name, type, action }) => [
    `${root}.${name}`,
    { subject: subjectOf(type), action: action === 'localize' ? 'createLocalization' : action },
  ])

/** Media need no permission beyond their document's; all other links need `find` on their target. */
const linkScopes = (model: Model, format: GraphqlFormat): readonly (readonly [string, PermissionScope])[] =>
  [...model.contentTypes.values(), ...model.components.values()].flatMap(holder =>
    [...holder.attributes.values()]
      .filter(isLink)
      .filter(({ kind }) => kind !== 'media')
      .flatMap(attribute =>
        format
          .linkFields(attribute)
          .map(([name]): readonly [string, PermissionScope] => [
            `${graphqlTypeName(holder)}.${name}`,
            { subject: subjectOf(attribute.target), action: 'find' },
          ]),
      ),
  )

const mutationScopes = (subject: string, actions: Readonly<Record<string, Action>>) =>
  Object.entries(actions).map(([name, action]): readonly [string, PermissionScope] => [
    `Mutation.${name}`,
    { subject, action },
  ])

/** Permissions of the fixed mutations. */
const FIXED_SCOPES: ReadonlyMap<string, PermissionScope> = new Map([
  ...mutationScopes('auth', {
    login: 'login',
    register: 'register',
    forgotPassword: 'forgotPassword',
    resetPassword: 'resetPassword',
    changePassword: 'changePassword',
    emailConfirmation: 'emailConfirmation',
  }),
  ...mutationScopes('users', {
    createUsersPermissionsUser: 'create',
    updateUsersPermissionsUser: 'update',
    deleteUsersPermissionsUser: 'delete',
  }),
  ...mutationScopes('upload', {
    upload: 'upload',
    multipleUpload: 'upload',
    updateFileInfo: 'update',
    updateUploadFile: 'update',
    removeFile: 'delete',
    deleteUploadFile: 'delete',
  }),
])
