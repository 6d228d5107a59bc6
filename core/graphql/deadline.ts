import { GraphQLError } from 'graphql'

/** When the time of a request is over (`limits.time`): of all its operations together. */
export interface Deadline {
  readonly milliseconds: number
  readonly signal: AbortSignal
  /** Resolves then. */
  readonly late: Promise<null>
  stop(): void
}

export function openDeadline(milliseconds: number): Deadline {
  const controller = new AbortController()
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<null>(resolve => {
    timer = setTimeout(() => {
      controller.abort()
      resolve(null)
    }, milliseconds)
  })
  return { milliseconds, signal: controller.signal, late, stop: () => clearTimeout(timer) }
}

/** What was begun by then is not waited for: reads are ended, a mutation under way may still be carried out. */
export const tookTooLong = (milliseconds: number): GraphQLError =>
  new GraphQLError(
    `The request took longer than the ${milliseconds} ms that graphql.config.limits.time in project.yaml allows`,
    { extensions: { code: 'OPERATION_TIMED_OUT' } },
  )
