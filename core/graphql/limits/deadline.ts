import { GraphQLError } from 'graphql'
import type { WriteOutcome } from '../../base/request-context.ts'
import { FAULTS } from '../../faults/fault.ts'

/** The time limit of a request (`limits.time`), shared by all of its operations. */
export interface Deadline {
  readonly milliseconds: number
  readonly signal: AbortSignal
  /** Resolves at the deadline. */
  readonly expired: Promise<null>
  stop(): void
}

export function openDeadline(milliseconds: number): Deadline {
  const controller = new AbortController()
  let timer: NodeJS.Timeout | undefined
  const expired = new Promise<null>(resolve => {
    timer = setTimeout(() => {
      controller.abort()
      resolve(null)
    }, milliseconds)
  })
  return { milliseconds, signal: controller.signal, expired, stop: () => clearTimeout(timer) }
}

/** The timeout error. `outcome`: for mutations, whether data may have been written. */
export function timeoutError(milliseconds: number, outcome?: WriteOutcome): GraphQLError {
  const message = `The request took longer than the ${milliseconds} ms that graphql.config.limits.time in project.yaml allows`
  const error = { name: FAULTS.unavailable.name, message, details: { outcome } }
  return new GraphQLError(message, {
    extensions: { code: 'OPERATION_TIMED_OUT', ...(outcome && { error }) },
  })
}
