import { forbidden, RequestFault } from '../../faults/fault.ts'
import type { Attribute, RelationAttribute } from '../../model/model.ts'
import type { CreateCommand, PermittedCommand, UpdateByStatus, UpdateCommand } from '../../query/command.ts'
import type { Status } from '../../query/query.ts'
import type { DesiredVersion, Values } from '../desired-state.ts'
import type { FoundTargets } from '../links/link-targets.ts'
import { isShared } from '../rows/planning.ts'
import type { Current, Desired } from '../rows/write-load.ts'
import type { LockingOptions, WriteOptions } from '../rows/write-options.ts'
import type { CurrentRow } from '../sql/write-rows.ts'
import type { GivenBody } from '../values/given-body.ts'
import type { VersionPlace } from './version-values.ts'

export type SaveCommand = PermittedCommand<CreateCommand> | PermittedCommand<UpdateCommand>

/** A save, or two alternatives of which the stored status selects one. */
export type PossibleSave = SaveCommand | UpdateByStatus

/** The save with more effects: the publishing one if the caller may publish. */
export const expectedCommand = (save: PossibleSave): SaveCommand =>
  'kind' in save ? save : save.published.ok ? save.published.value : save.draft

/** Selects the command by the stored status. `rows`: those of the document. Throws a RequestFault if the caller may not publish. */
export function resolveCommand(save: PossibleSave, rows: readonly CurrentRow[]): SaveCommand {
  if ('kind' in save) return save
  const { draft, published } = save
  if (!isPublished(draft, rows)) return draft
  if (published.ok) return published.value
  throw new RequestFault(published.reasons[0] ?? forbidden('The caller may not publish'))
}

const isPublished = (command: SaveCommand, rows: readonly CurrentRow[]): boolean =>
  rows.some(row => row.get('status') === 'published' && isLocale(command, row))

export interface Saving {
  readonly command: SaveCommand
  readonly documentId: string
  readonly body: GivenBody
  readonly current: Current
  /** The targets of the body's links; rejects with a RequestFault if one does not exist. */
  readonly targets: Promise<FoundTargets>
  readonly options: LockingOptions
}

/** The stored state of the version that a command writes. */
export interface VersionContext {
  /** undefined: the version does not exist yet. */
  readonly row: CurrentRow | undefined
  /** The row of another locale, which has the values that all locales share. */
  readonly sibling: CurrentRow | undefined
  readonly place: VersionPlace
}

export const isPublishing = ({ type, status }: SaveCommand): boolean =>
  type.draftAndPublish && status === 'published'

/** A change of shared values changes every locale. */
export const changesAllLocales = ({ type, values }: SaveCommand): boolean =>
  Object.keys(values).some(name => isShared(type, type.attributes.get(name)))

/**
 * True if publishing this locale also publishes the shared values of other published locales, because drafts changed
 * them since. Each status has its own timestamp of the shared values.
 */
export function publishesForAll(command: SaveCommand, rows: readonly CurrentRow[]): boolean {
  if (!isPublishing(command) || !command.type.localized) return false
  const stampOf = (row: CurrentRow | undefined) => String(row?.get('shared_updated_at'))
  const drafted = stampOf(rows.find(row => row.get('status') === 'draft'))
  return rows.some(
    row => row.get('status') === 'published' && !isLocale(command, row) && stampOf(row) !== drafted,
  )
}

/** The rows that a save writes. */
export const statusesOf = ({ type, status }: SaveCommand): readonly Status[] => {
  if (!type.draftAndPublish) return ['published']
  return status === 'draft' ? ['draft'] : ['draft', 'published']
}

/** The version that a save writes, with its values. */
export const versionOf = (command: SaveCommand, values: Values): DesiredVersion => {
  const { type, locale, publishedAt, keepsPublishedAt } = command
  const version = { locale, statuses: statusesOf(command), values }
  return type.draftAndPublish
    ? { ...version, publishing: { at: publishedAt, keeps: keepsPublishedAt === true } }
    : version
}

/** The version whose unique values are checked: a draft that must meet all rules is checked as if it were published. */
export const claimedVersion = (command: SaveCommand, values: Values): DesiredVersion => ({
  ...versionOf(command, values),
  ...(command.strict === true ? { statuses: ['draft', 'published'] } : {}),
})

/** Attributes to load before the write; for a new locale, the shared ones too. */
export function attributesToLoad(command: SaveCommand, body: GivenBody): Required<Desired> {
  const { type } = command
  const generated = generatedFrom(type)
  const isWanted = (attribute: Attribute) =>
    (isPublishing(command) || body.names(attribute) || generated.has(attribute.name)) &&
    !staysInPlace(attribute, command, body)
  return {
    attributes: [...type.attributes.values()].filter(isWanted),
    // Shared values are written to the rows of all locales.
    allRows: type.localized && (isPublishing(command) || changesAllLocales(command)),
    dependent: rows =>
      rows.some(row => isLocale(command, row))
        ? []
        : [...type.attributes.values()].filter(each => isShared(type, each) && !isWanted(each)),
  }
}

/** Generated uids and their source attributes. If a stored uid were not loaded, it would seem to be missing. */
function generatedFrom({ attributes }: SaveCommand['type']): ReadonlySet<string> {
  const names = new Set<string>()
  for (const attribute of attributes.values()) {
    if (attribute.kind !== 'scalar' || !attribute.generate) continue
    names.add(attribute.name)
    if (attribute.targetField !== undefined) names.add(attribute.targetField)
  }
  return names
}

/** Loads what the draft needs; if a published row exists, also what the command for it needs. */
export function attributesToRead(save: PossibleSave, body: GivenBody): Desired {
  if ('kind' in save) return attributesToLoad(save, body)
  const { draft, published } = save
  const little = attributesToLoad(draft, body)
  if (!published.ok) return { ...little, allRows: true }
  const { attributes } = attributesToLoad(published.value, body)
  const dependent = attributes.filter(each => !little.attributes.includes(each))
  return {
    attributes: little.attributes,
    // The write depends on the existence of a published row.
    allRows: true,
    dependent: rows => (isPublished(draft, rows) ? dependent : little.dependent(rows)),
  }
}

/** True if an owned list is edited in the database without loading it: by connect and disconnect, or published unchanged. */
export function staysInPlace(
  attribute: Attribute,
  command: SaveCommand,
  { values, faults, names }: Pick<GivenBody, 'values' | 'faults' | 'names'>,
): attribute is RelationAttribute {
  if (attribute.kind !== 'relation' || attribute.side !== 'owner' || !attribute.many) return false
  if (!names(attribute)) return isPublishing(command)
  const value = faults.length > 0 ? undefined : values.get(attribute.name)
  return value?.kind === 'links' && value.change?.kind === 'change'
}

export const isLocale = ({ type, locale }: SaveCommand, row: CurrentRow): boolean =>
  !type.localized || row.get('locale') === locale

/** Identifies a version. */
export interface ContextInput extends Pick<Saving, 'command' | 'documentId' | 'current'> {
  readonly options: WriteOptions
}

export function versionContextOf({ command, documentId, current, options }: ContextInput): VersionContext {
  const { type, locale } = command
  const status: Status = type.draftAndPublish ? 'draft' : 'published'
  const rows = current
    .rows(type, documentId)
    .filter(row => !type.draftAndPublish || row.get('status') === 'draft')
  return {
    row: rows.find(row => isLocale(command, row)),
    sibling: rows.find(row => !isLocale(command, row)),
    place: { root: type, status, locale, current, options },
  }
}
