import { GraphQLError, type GraphQLFieldResolver, type GraphQLSchema } from 'graphql'
import type { WriteOutcome, WriteScope } from '../base/request-context.ts'
import { withWrites } from '../database/request-scope.ts'
import { UnavailableError } from '../faults/errors.ts'
import { RequestFault } from '../faults/fault.ts'
import type { Arguments } from './parse/operation-context.ts'
import type { ExecutionContext } from './resolve/resolver-context.ts'

/** A server-side failure of a mutation's root field, with its write outcome. */
export class MutationFailure extends Error {
  override readonly name = 'MutationFailure'
  readonly outcome: WriteOutcome
  /** The request's deadline had passed. */
  readonly isLate: boolean

  constructor(outcome: WriteOutcome, isLate: boolean, cause: unknown) {
    super(cause instanceof Error ? cause.message : String(cause), { cause })
    this.outcome = outcome
    this.isLate = isLate
  }
}

type Resolver = GraphQLFieldResolver<unknown, ExecutionContext, Arguments>

/**
 * Wraps the root fields of mutations. They run one after another, each with its own transactions: none starts after the
 * request's deadline, and a failed one reports its own write outcome. `generated`: fields that write in one transaction.
 */
export function wrapMutations(schema: GraphQLSchema, generated: ReadonlySet<string>): void {
  for (const field of Object.values(schema.getMutationType()?.getFields() ?? {})) {
    const { resolve } = field
    if (resolve) field.resolve = wrapMutation(resolve, generated.has(field.name))
  }
}

const wrapMutation =
  (resolve: Resolver, isGenerated: boolean): Resolver =>
  async (parent, args, execution, info) => {
    const writes = execution.requestContext?.writes
    const before = writes?.written ?? 0
    try {
      if (execution.signal?.aborted) throw new Error('The time of the request is over')
      const run = () => resolve(parent, args, execution, info)
      return await (isGenerated && !execution.pluginRequest ? run() : withWrites(writes, run))
    } catch (error) {
      if (isClientError(error)) throw error
      const isLate = execution.signal?.aborted === true
      throw new MutationFailure(outcomeSince(before, writes), isLate, error)
    }
  }

/** Errors about the client's request, which are reported as they are. */
const isClientError = (error: unknown): boolean =>
  error instanceof GraphQLError || (error instanceof RequestFault && !(error instanceof UnavailableError))

const outcomeSince = (before: number, writes: WriteScope | undefined): WriteOutcome =>
  writes === undefined || writes.written > before ? 'unknown' : 'not-written'
