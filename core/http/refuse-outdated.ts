import { OUTDATED_MESSAGE } from '../database/request-fault.ts'
import type { Responder } from '../faults/http-exchange.ts'
import { isHealthPath } from './health.ts'
import { createRefusal } from './refusal.ts'

export interface RefuseTerms {
  readonly isOutdated: () => boolean
  /** Called for each request that is refused. */
  readonly refused: () => void
  /** The path of GraphQL. */
  readonly graphql: string
}

/** Answers all requests but those for health with 503 while the tables are those of another version of the project. */
export function refuseOutdated({ isOutdated, refused, graphql }: RefuseTerms): Responder {
  const refuse = createRefusal({ message: OUTDATED_MESSAGE, graphql })
  return request => {
    if (!isOutdated() || isHealthPath(request.path)) return null
    refused()
    return refuse(request)
  }
}
