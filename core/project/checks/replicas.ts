import type { ProjectFinding } from '../faults.ts'
import type { Settings } from '../settings/settings.ts'

/** An embedded database cannot have replicas. */
export function* replicas({ database }: Settings): Generator<ProjectFinding> {
  if (database.url !== 'embedded' || database.replicas.length === 0) return
  yield {
    code: 'conflict',
    message:
      'the embedded database has no replicas: give `database.url` the address of the PostgreSQL that they follow, or leave `replicas` out',
    path: ['database', 'replicas'],
    atKey: true,
    related: { path: ['database', 'url'], message: 'its `url` is `embedded`' },
  }
}
