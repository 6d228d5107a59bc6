import { OUTDATED_MESSAGE } from '../database/request-fault.ts'
import { answerFault, type HttpAnswer, type Responder } from '../faults/exchange.ts'
import { fault } from '../faults/fault.ts'
import { isHealthPath } from './health.ts'

export interface RefuseTerms {
  readonly isOutdated: () => boolean
  /** Called for each request that is refused. */
  readonly refused: () => void
  /** Paths whose clients expect errors in GraphQL's form. */
  readonly graphql: ReadonlySet<string>
}

/** Answers all requests but those for health with 503 while the tables are those of another version of the project. */
export const refuseOutdated =
  ({ isOutdated, refused, graphql }: RefuseTerms): Responder =>
  ({ path }) => {
    if (!isOutdated() || isHealthPath(path)) return null
    refused()
    return graphql.has(path) ? OVER_GRAPHQL : OVER_REST
  }

const FAULT = fault('unavailable', OUTDATED_MESSAGE)

const OVER_REST: HttpAnswer = answerFault(FAULT)

const OVER_GRAPHQL: HttpAnswer = {
  status: 503,
  body: JSON.stringify({
    errors: [
      {
        message: OUTDATED_MESSAGE,
        extensions: {
          error: { name: 'ServiceUnavailableError', message: OUTDATED_MESSAGE, details: {} },
          code: 'INTERNAL_SERVER_ERROR',
        },
      },
    ],
  }),
}
