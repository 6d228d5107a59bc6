import type { Path } from '../faults/diagnostic.ts'
import type { Model } from '../model/model.ts'
import type { Permissions, PermissionTerms } from '../project/settings.ts'
import { BUILT_IN_ACTIONS, CONTENT_ACTIONS, isBuiltInSubject } from './actions.ts'

/** One permission as it was written: what it says, and where. */
export interface Cell {
  readonly said: boolean | PermissionTerms
  readonly path: Path
}

/** subject → action → permission, with `"*"` for actions written out; `"*"` for content-types stays a subject. */
export type Cells = ReadonlyMap<string, ReadonlyMap<string, Cell>>

export const EVERY = '*'

/** Every word that may stand for a subject. */
export const subjectsOf = (model: Model): readonly string[] => [
  ...[...model.contentTypes.values()].filter(type => !type.builtIn).map(type => type.key),
  ...Object.keys(BUILT_IN_ACTIONS),
  EVERY,
]

/** Every action that a subject knows, whether or not this one of them has drafts and locales. */
export const actionsNamed = (subject: string): readonly string[] =>
  isBuiltInSubject(subject) ? BUILT_IN_ACTIONS[subject] : CONTENT_ACTIONS

export const cellOf = (cells: Cells, subject: string, action: string): Cell | undefined =>
  cells.get(subject)?.get(action)

export const toCells = (permissions: Permissions, path: Path): Cells =>
  new Map(
    Object.entries(permissions).map(([subject, said]) => [subject, toRow(subject, said, [...path, subject])]),
  )

/** An action that is named beats `"*"` beside it. */
function toRow(subject: string, said: Permissions[string], path: Path): ReadonlyMap<string, Cell> {
  const row = new Map<string, Cell>()
  const every = said[EVERY]
  if (every !== undefined) {
    for (const action of actionsNamed(subject)) row.set(action, { said: every, path: [...path, EVERY] })
  }
  for (const [action, terms] of Object.entries(said)) {
    if (action !== EVERY) row.set(action, { said: terms, path: [...path, action] })
  }
  return row
}

/** What the second says replaces what the first says of the same action of the same subject. */
export function overlay(below: Cells, above: Cells): Cells {
  const merged = new Map(below)
  for (const [subject, row] of above) merged.set(subject, new Map([...(below.get(subject) ?? []), ...row]))
  return merged
}
