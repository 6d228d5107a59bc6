import type { Attribute } from '../model/model.ts'
import type { CreateCommand, PermittedCommand, UpdateCommand } from '../query/command.ts'
import type { Status } from '../query/query.ts'
import type { GivenBody } from './given-body.ts'
import type { FoundTargets } from './link-targets.ts'
import type { VersionPlace } from './version-values.ts'
import type { Current, Wanted } from './write-load.ts'
import type { CurrentRow } from './write-rows.ts'
import type { LockingTerms } from './write-terms.ts'
import { isShared } from './write-versions.ts'

export type SaveCommand = PermittedCommand<CreateCommand> | PermittedCommand<UpdateCommand>

export interface Saving {
  readonly command: SaveCommand
  readonly documentId: string
  readonly body: GivenBody
  readonly current: Current
  /** What the body's links name; rejects with a RequestFault where something of it is not there. */
  readonly targets: Promise<FoundTargets>
  readonly terms: LockingTerms
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

/** What all locales share is changed in each of them. */
export const changesAllLocales = ({ type, values }: SaveCommand): boolean =>
  Object.keys(values).some(name => isShared(type, type.attributes.get(name)))

/** The rows that a save writes. */
export const statusesOf = ({ type, status }: SaveCommand): readonly Status[] => {
  if (!type.draftAndPublish) return ['published']
  return status === 'draft' ? ['draft'] : ['draft', 'published']
}

/** What has to be known before the write; of a locale that is made, what all locales share too. */
export function attributesToLoad(command: SaveCommand, body: GivenBody): Required<Wanted> {
  const { type } = command
  const isWanted = (attribute: Attribute) => isPublishing(command) || body.names(attribute)
  return {
    attributes: [...type.attributes.values()].filter(isWanted),
    besides: rows =>
      rows.some(row => isLocale(command, row))
        ? []
        : [...type.attributes.values()].filter(each => isShared(type, each) && !isWanted(each)),
  }
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
