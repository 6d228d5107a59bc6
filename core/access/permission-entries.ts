import type { Path } from '../faults/diagnostic.ts'
import type { Model } from '../model/model.ts'
import type { Permissions, PermissionTerms } from '../project/settings/settings.ts'
import { BUILT_IN_ACTIONS, CONTENT_ACTIONS, isBuiltInSubject } from './actions.ts'

/** One permission as it was written: what it says, and where. */
export interface Cell {
  readonly said: boolean | PermissionTerms
  readonly path: Path
  readonly origin: Origin
}

/** Whether it stands in the file, or follows from there being nothing on `auth` in `public`, or from a token's type. */
export type Origin = 'file' | 'open' | 'token-type'

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

/** `path`: of the permissions; of what they follow from where they are not in the file. */
export const toCells = (permissions: Permissions, path: Path, origin: Origin = 'file'): Cells =>
  new Map(
    Object.entries(permissions).map(([subject, said]) => {
      const toCell = (action: string, terms: Cell['said']): Cell => ({
        said: terms,
        path: origin === 'file' ? [...path, subject, action] : path,
        origin,
      })
      return [subject, toRow(subject, said, toCell)]
    }),
  )

/** An action that is named beats `"*"` beside it. */
function toRow(
  subject: string,
  said: Permissions[string],
  toCell: (action: string, terms: Cell['said']) => Cell,
): ReadonlyMap<string, Cell> {
  const row = new Map<string, Cell>()
  const every = said[EVERY]
  if (every !== undefined) {
    for (const action of actionsNamed(subject)) row.set(action, toCell(EVERY, every))
  }
  for (const [action, terms] of Object.entries(said)) {
    if (action !== EVERY) row.set(action, toCell(action, terms))
  }
  return row
}

/** What the second says replaces what the first says of the same action of the same subject. */
export function overlay(below: Cells, above: Cells): Cells {
  const merged = new Map(below)
  for (const [subject, row] of above) merged.set(subject, new Map([...(below.get(subject) ?? []), ...row]))
  return merged
}
