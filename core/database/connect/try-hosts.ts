import { toDriverError } from '../database-fault.ts'
import { OpeningError } from './opening-fault.ts'

/** Where a server is. */
export interface Host {
  readonly host: string
  readonly port: number
}

type Connect = (config: object) => Promise<unknown>

/**
 * Connects to the first of the servers that takes the connection, beginning with the last that did. Where none does,
 * the reason that says most is thrown.
 */
export function tryHosts(hosts: readonly Host[], connect: Connect): Connect {
  if (hosts.length < 2) return connect
  let first = 0
  return async config => {
    let failure: unknown
    const from = first
    for (let step = 0; step < hosts.length; step++) {
      const at = (from + step) % hosts.length
      try {
        const connection = await connect({ ...config, ...hosts[at] })
        first = at
        return connection
      } catch (error) {
        failure = tellsMore(error, failure) ? error : failure
      }
    }
    throw failure
  }
}

/** A server that answers says more than one that does not; of those that answer, one that is no standby. */
const tellsMore = (error: unknown, other: unknown): boolean => weightOf(error) > weightOf(other)

function weightOf(error: unknown): number {
  if (error === undefined) return 0
  if (error instanceof OpeningError) return error.fault.kind === 'readonly' ? 2 : 3
  return isAnswer(error) ? 3 : 1
}

/** Of a server that knows neither this user nor this database: the others will say the same. */
function isAnswer(error: unknown): boolean {
  const code = toDriverError(error)?.code
  return typeof code === 'string' && /^(28|3D)/.test(code)
}
