import type { Finding } from '../faults.ts'
import type { Settings } from '../settings/settings.ts'

/** As many characters as HMAC-SHA256 has bytes. */
const LEAST_LENGTH = 32

export function* jwtSecret({ auth }: Settings): Generator<Finding> {
  const { length } = auth.jwtSecret
  if (length === 0 || length >= LEAST_LENGTH) return
  const message = `the \`jwtSecret\` is too short to be safe: give it at least ${LEAST_LENGTH} characters`
  yield { code: 'bad-value', message, path: ['auth', 'jwtSecret'] }
}
