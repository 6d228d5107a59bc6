import type { ProjectFinding } from '../faults.ts'
import type { Settings } from '../settings/settings.ts'

/** The default page size must not exceed the maximum. */
export function* pageLimits({ rest, graphql }: Settings): Generator<ProjectFinding> {
  const { defaultLimit, amountLimit } = graphql.config
  if (rest.defaultLimit > rest.maxLimit) {
    const message = `\`defaultLimit\` is ${rest.defaultLimit}, which is more than \`maxLimit\`: ${rest.maxLimit}`
    yield { code: 'conflict', message, path: ['rest', 'defaultLimit'] }
  }
  if (defaultLimit > amountLimit) {
    const message = `\`defaultLimit\` is ${defaultLimit}, which is more than \`amountLimit\`: ${amountLimit}`
    yield { code: 'conflict', message, path: ['graphql', 'config', 'defaultLimit'] }
  }
}

/** Milliseconds. Node fires longer timers immediately. */
const MAX_TIMER = 2 ** 31 - 1

/** Durations used by timers must be at most 24 days. */
export function* durations(settings: Settings): Generator<ProjectFinding> {
  const { server, database, graphql, policyTimeout } = settings
  const all: readonly (readonly [milliseconds: number, ...path: string[]])[] = [
    [server.requestTimeout, 'server', 'requestTimeout'],
    [server.stallTimeout, 'server', 'stallTimeout'],
    [server.slowQuery, 'server', 'slowQuery'],
    [database.pool.idle, 'database', 'pool', 'idle'],
    [database.pool.acquire, 'database', 'pool', 'acquire'],
    [database.replicaLag, 'database', 'replicaLag'],
    [database.startTimeout, 'database', 'startTimeout'],
    [database.statementTimeout, 'database', 'statementTimeout'],
    [database.limits.time, 'database', 'limits', 'time'],
    [graphql.config.limits.time, 'graphql', 'config', 'limits', 'time'],
    [policyTimeout, 'policyTimeout'],
  ]
  for (const [milliseconds, ...path] of all) {
    if (milliseconds > MAX_TIMER)
      yield { code: 'bad-value', message: 'the duration is too long: at most 24d', path }
  }
}
