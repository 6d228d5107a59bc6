import type { ProjectFinding } from '../faults.ts'
import type { IsWritten } from '../settings/derive-defaults.ts'
import type { Settings } from '../settings/settings.ts'

/** Metrics reveal internals, so making them public must be explicit. */
export function* metrics({ server }: Settings, isWritten: IsWritten): Generator<ProjectFinding> {
  const { enabled, port } = server.metrics
  if (enabled && port === null && !isWritten('server', 'metrics', 'path'))
    yield {
      code: 'conflict',
      message:
        'set `port: 9464` for a separate port, or `path: /metrics` to make them public on the port of the server',
      path: ['server', 'metrics', 'enabled'],
    }
  if (enabled && port !== null && port !== 0 && port === server.port)
    yield {
      code: 'conflict',
      message: 'the server listens on this port: choose another port, or set only `path`',
      path: ['server', 'metrics', 'port'],
    }
}

/** With credentials and the origin `*`, any website could act on behalf of its visitors. */
export function* cors({ server }: Settings): Generator<ProjectFinding> {
  const { origins, credentials } = server.cors
  if (!credentials || !origins.includes('*')) return
  const message =
    '`credentials: true` is not allowed with the origin `*`: list the origins that may send credentials'
  yield { code: 'conflict', message, path: ['server', 'cors', 'credentials'], atKey: true }
}

/** REST, GraphQL, metrics and health need different paths. */
export function* endpoints(
  { rest, graphql, server }: Settings,
  isWritten: IsWritten,
): Generator<ProjectFinding> {
  const named = isWritten('graphql', 'endpoints')
  const taken = new Map([
    [rest.prefix, '`rest.prefix`'],
    ['/_health', 'the health of the server'],
    ['/_ready', 'the health of the server'],
  ])
  const { metrics } = server
  const others: readonly (readonly [isServed: boolean, at: string, path: string[]])[] = [
    ...Object.keys(graphql.endpoints).map((path): (typeof others)[number] => [
      graphql.enabled,
      path,
      named ? ['graphql', 'endpoints', path] : ['graphql', 'config', 'endpoint'],
    ]),
    [metrics.enabled && metrics.port === null, metrics.path, ['server', 'metrics', 'path']],
  ]
  for (const [isServed, at, path] of others) {
    const other = taken.get(at)
    if (isServed && other) yield { code: 'conflict', message: `\`${at}\` is also the path of ${other}`, path }
    if (isServed) taken.set(at, `\`${path.join('.')}\``)
  }
}

/** An embedded database cannot have replicas. */
export function* replicas({ database }: Settings): Generator<ProjectFinding> {
  if (database.url !== 'embedded' || database.replicas.length === 0) return
  yield {
    code: 'conflict',
    message:
      'the embedded database has no replicas: set `database.url` to the address of their primary, or remove `replicas`',
    path: ['database', 'replicas'],
    atKey: true,
    related: { path: ['database', 'url'], message: 'its `url` is `embedded`' },
  }
}
