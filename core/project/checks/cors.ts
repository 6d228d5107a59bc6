import type { ProjectFinding } from '../faults.ts'
import type { Settings } from '../settings/settings.ts'

/** With credentials and the origin `*`, any website could act on behalf of its visitors. */
export function* cors({ server }: Settings): Generator<ProjectFinding> {
  const { origins, credentials } = server.cors
  if (!credentials || !origins.includes('*')) return
  const message =
    '`credentials: true` does not go with the origin `*`: name the origins that may send credentials'
  yield { code: 'conflict', message, path: ['server', 'cors', 'credentials'], atKey: true }
}
