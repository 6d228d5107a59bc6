import type { ProjectFinding } from '../faults.ts'
import type { Settings } from '../settings/settings.ts'

const TAKEN: ReadonlySet<string> = new Set([...Object.getOwnPropertyNames(Object.prototype), 'prototype'])

/** Roles and tokens must not have names of Object.prototype. (For types and attributes see core/model/check.) */
export function* objectNames(settings: Settings): Generator<ProjectFinding> {
  for (const section of ['roles', 'apiTokens'] as const) {
    for (const name of Object.keys(settings[section])) {
      if (!TAKEN.has(name)) continue
      yield {
        code: 'reserved-name',
        message: `\`${name}\` is a reserved name`,
        path: [section, name],
        atKey: true,
      }
    }
  }
}
