import { isMoment } from '../../base/text.ts'
import type { ProjectFinding } from '../faults.ts'
import type { ApiTokenDeclaration, Settings } from '../settings/settings.ts'

/** Each token has either a secret or a hash, and no two tokens are equal. */
export function* apiTokens({ apiTokens }: Settings): Generator<ProjectFinding> {
  const seen = new Map<string, string>()
  for (const [name, token] of Object.entries(apiTokens)) {
    const path = ['apiTokens', name]
    yield* oneCredential(name, token)
    if (token.expiresAt !== undefined && !isMoment(token.expiresAt)) {
      yield {
        code: 'bad-value',
        message: '`expiresAt` is a date or time that does not exist',
        path: [...path, 'expiresAt'],
      }
    }
    const known = token.secret ?? token.hash
    const other = known === undefined ? undefined : seen.get(known)
    if (other !== undefined) {
      const related = { path: ['apiTokens', other], message: `\`${other}\` is here` }
      yield {
        code: 'conflict',
        message: `the tokens \`${other}\` and \`${name}\` are the same`,
        path,
        atKey: true,
        related,
      }
    }
    if (known !== undefined) seen.set(known, name)
  }
}

function* oneCredential(name: string, { secret, hash }: ApiTokenDeclaration): Generator<ProjectFinding> {
  const path = ['apiTokens', name]
  if (secret === undefined && hash === undefined) {
    yield {
      code: 'missing-key',
      message: `the token \`${name}\` needs a \`secret\` or a \`hash\``,
      path,
      atKey: true,
    }
  }
  if (secret !== undefined && hash !== undefined) {
    const message = `the token \`${name}\` has a \`secret\` and a \`hash\`: keep one of them`
    yield { code: 'conflict', message, path: [...path, 'hash'], atKey: true }
  }
}
