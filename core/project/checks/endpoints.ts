import type { ProjectFinding } from '../faults.ts'
import type { Settings } from '../settings/settings.ts'

/** REST, GraphQL, metrics and health need different paths. */
export function* endpoints({ rest, graphql, server }: Settings): Generator<ProjectFinding> {
  const taken = new Map([
    [rest.prefix, '`rest.prefix`'],
    ['/_health', 'the health of the server'],
    ['/_ready', 'the health of the server'],
  ])
  const { metrics } = server
  const others: readonly (readonly [isServed: boolean, at: string, path: string[]])[] = [
    [graphql.enabled, graphql.config.endpoint, ['graphql', 'config', 'endpoint']],
    [metrics.enabled && metrics.port === null, metrics.path, ['server', 'metrics', 'path']],
  ]
  for (const [isServed, at, path] of others) {
    const other = taken.get(at)
    if (isServed && other) yield { code: 'conflict', message: `\`${at}\` is the path of ${other}, too`, path }
    if (isServed) taken.set(at, `\`${path.join('.')}\``)
  }
}
