import type { Attribute } from '../model/model.ts'
import type { CreateCommand, PermittedCommand, UpdateCommand } from '../query/command.ts'
import type { Status } from '../query/query.ts'
import type { GivenBody } from './given-body.ts'
import type { Visible } from './link-targets.ts'
import type { VersionPlace } from './version-values.ts'
import type { Current } from './write-load.ts'
import type { CurrentRow } from './write-rows.ts'
import type { LockingTerms } from './write-terms.ts'
import { isShared } from './write-versions.ts'

export type SaveCommand = PermittedCommand<CreateCommand> | PermittedCommand<UpdateCommand>

export interface Saving {
  readonly command: SaveCommand
  readonly documentId: string
  readonly body: GivenBody
  readonly current: Current
  readonly terms: LockingTerms & { readonly visible: Visible }
}

/** The version that a command is about, as it is: null where it is still to be made. */
export interface Standing {
  readonly row: CurrentRow | undefined
  /** Another locale's, which has what all of them share. */
  readonly sibling: CurrentRow | undefined
  readonly place: VersionPlace
}

export const isPublishing = ({ type, status }: SaveCommand): boolean =>
  type.draftAndPublish && status === 'published'

/** The attributes whose values have to be known before the write. */
export const attributesToLoad =
  (command: SaveCommand, body: GivenBody) =>
  (rows: readonly CurrentRow[]): readonly Attribute[] => {
    const isThere = rows.some(row => isLocale(command, row))
    return [...command.type.attributes.values()].filter(
      each => isPublishing(command) || body.names(each) || (!isThere && isShared(command.type, each)),
    )
  }

const isLocale = ({ type, locale }: SaveCommand, row: CurrentRow): boolean =>
  !type.localized || row.get('locale') === locale

export function standingOf({ command, documentId, current, terms }: Saving): Standing {
  const { type, locale } = command
  const status: Status = type.draftAndPublish ? 'draft' : 'published'
  const rows = current
    .rows(type, documentId)
    .filter(row => !type.draftAndPublish || row.get('status') === 'draft')
  return {
    row: rows.find(row => isLocale(command, row)),
    sibling: rows.find(row => !isLocale(command, row)),
    place: { root: type, status, locale, current, terms },
  }
}
