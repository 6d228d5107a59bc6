import { isRecord } from '../base/plain-data.ts'
import type { Path } from '../faults/diagnostic.ts'
import type { Project } from '../project/project.ts'

/** Replaces values that the file takes from the environment by the name of the variable, at any depth. */
export type Mask = (value: unknown) => unknown

/** Conditions and set values of permissions may come from the environment, and then are not for the pages of a browser. */
export function maskOf(project: Project): Mask {
  const names = new Map<string, string>()
  for (const section of ['roles', 'apiTokens'] as const)
    collect(project.settings[section], [section], { project, names })
  const mask: Mask = value => {
    if (Array.isArray(value)) return value.map(mask)
    if (isRecord(value))
      return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, mask(each)]))
    return names.get(String(value)) ?? value
  }
  return mask
}

interface Collecting {
  readonly project: Project
  /** Placeholders by value. */
  readonly names: Map<string, string>
}

function collect(value: unknown, path: Path, collecting: Collecting): void {
  if (Array.isArray(value)) for (const [at, each] of value.entries()) collect(each, [...path, at], collecting)
  else if (isRecord(value))
    for (const [key, each] of Object.entries(value)) collect(each, [...path, key], collecting)
  else {
    const variables = collecting.project.writtenAt(path)?.variables ?? []
    if (variables.length > 0)
      collecting.names.set(String(value), variables.map(name => `\${${name}}`).join(' '))
  }
}
