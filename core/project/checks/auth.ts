import { didYouMean, hintFor } from '../../base/nearest.ts'
import type { ProjectFinding } from '../faults.ts'
import type { Settings } from '../settings/settings.ts'

/** The role and the attributes of registration must exist. */
export function* registration({ auth, roles, user }: Settings): Generator<ProjectFinding> {
  const { role, allowedFields } = auth.register
  const path = ['auth', 'register']
  if (!Object.hasOwn(roles, role)) {
    const message = `unknown role \`${role}\`${didYouMean(role, Object.keys(roles))}`
    yield { code: 'unknown-name', message, path: [...path, 'role'] }
  }
  for (const [index, field] of allowedFields.entries()) {
    if (Object.hasOwn(user.attributes, field)) continue
    const message = `\`user\` declares no attribute \`${field}\`${hintFor(field, Object.keys(user.attributes))}`
    yield { code: 'unknown-name', message, path: [...path, 'allowedFields', index] }
  }
}

/** The output size of HMAC-SHA256 in bytes. */
const MIN_LENGTH = 32

export function* jwtSecret({ auth }: Settings): Generator<ProjectFinding> {
  const { length } = auth.jwtSecret
  if (length === 0 || length >= MIN_LENGTH) return
  const message = `the \`jwtSecret\` is too short: use at least ${MIN_LENGTH} characters`
  yield { code: 'bad-value', message, path: ['auth', 'jwtSecret'] }
}
