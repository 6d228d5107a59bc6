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
        'say where: `port: 9464` for a port of their own, or `path: /metrics` for everybody on the server’s',
      path: ['server', 'metrics', 'enabled'],
    }
  if (enabled && port !== null && port !== 0 && port === server.port)
    yield {
      code: 'conflict',
      message: 'the server itself listens there: choose another, or give `path` alone',
      path: ['server', 'metrics', 'port'],
    }
}
