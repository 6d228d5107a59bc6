import type { ProjectFinding } from '../faults.ts'
import type { Settings } from '../settings/settings.ts'

/** The output size of HMAC-SHA256 in bytes. */
const MIN_LENGTH = 32

export function* jwtSecret({ auth }: Settings): Generator<ProjectFinding> {
  const { length } = auth.jwtSecret
  if (length === 0 || length >= MIN_LENGTH) return
  const message = `the \`jwtSecret\` is too short to be safe: give it at least ${MIN_LENGTH} characters`
  yield { code: 'bad-value', message, path: ['auth', 'jwtSecret'] }
}
