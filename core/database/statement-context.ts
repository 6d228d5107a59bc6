import type { RequestContext } from '../base/request-context.ts'

/** What a statement or a transaction is for. */
export interface Purpose {
  /** The request that it is run for; absent: none. */
  readonly trail?: RequestContext | undefined
  /** In words for a log, without any value. Called only where somebody wants to know. */
  describe(): object
}
