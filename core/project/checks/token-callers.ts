import type { Path } from '../../faults/diagnostic.ts'
import type { ProjectFinding } from '../faults.ts'
import type { Json, Settings } from '../settings/settings.ts'
import { conditionalPermissions } from './declared-parts.ts'

/** Permissions of a token must not use `$user`, because a token has no user. */
export function* tokenCallers(settings: Settings): Generator<ProjectFinding> {
  for (const { terms, path } of conditionalPermissions(settings)) {
    if (path[0] !== 'apiTokens') continue
    for (const at of [
      ...callersIn(terms.where ?? null, [...path, 'where']),
      ...callersIn(terms.set ?? null, [...path, 'set']),
    ]) {
      yield { code: 'conflict', message: '`$user` stands for a signed-in user: a token has none', path: at }
    }
  }
}

function callersIn(value: Json, path: Path): readonly Path[] {
  if (typeof value === 'string') return /^\$user(\.|$)/.test(value) ? [path] : []
  if (value === null || typeof value !== 'object') return []
  return Object.entries(value).flatMap(([key, child]) =>
    callersIn(child, [...path, Array.isArray(value) ? Number(key) : key]),
  )
}
