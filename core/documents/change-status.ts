import { ignoreUnhandled } from '../base/with-timeout.ts'
import type { Transaction } from '../database/database.ts'
import { fault, notFound, RequestFault } from '../faults/fault.ts'
import { type Attribute, type ContentType, componentsOf } from '../model/model.ts'
import type { PermittedCommand, StatusChange, StatusCommand } from '../query/command.ts'
import { STATUSES, type Status } from '../query/query.ts'
import { quoteIdentifier as name } from '../sql/identifier.ts'
import type { Alignment, DesiredValue } from './desired-state.ts'
import type { Answer } from './documents.ts'
import { inverseRelation } from './links/inverse-sql.ts'
import { isInverse } from './links/write-inverse.ts'
import { originOf, type RecordChange } from './outbox.ts'
import { openPrefetch } from './prefetch.ts'
import {
  assertMatches,
  assertVisible,
  assertWritable,
  choiceOf,
  countMatching,
  findSingle,
  visibleBy,
  visibleLocales,
} from './read/matching.ts'
import { readAnswer } from './read/read-answer.ts'
import { removeVersions } from './rows/remove-versions.ts'
import { type Current, loadDocument } from './rows/write-load.ts'
import type { LockingOptions, WriteOptions } from './rows/write-options.ts'
import { saveVersion } from './save-version.ts'
import { type CurrentRow, numberIn } from './sql/write-rows.ts'
import { alignmentOf } from './state/list-edits.ts'
import { findSavedTargets } from './state/new-values.ts'
import { type SaveCommand, type Saving, versionContextOf, versionOf } from './state/version-context.ts'
import { valuesOf } from './state/version-values.ts'
import { checkUnique } from './unique/check-unique.ts'
import { NOTHING_GIVEN } from './values/given-body.ts'
import { writeDocuments } from './write-documents.ts'

/** Makes drafts their published versions' equals (reference/documents.md#15-unpublishing-and-discarding), stamps included. */
const discardDraft: VersionChange = {
  attributes: ({ attributes }) => [...attributes.values()],
  async change({ type, documentId, locales, current }, _, options) {
    const found = await Promise.all(
      locales.map(locale => publishedValues({ type, documentId, locale }, current, options)),
    )
    const versions = found.flatMap(each => (each ? [{ ...each, statuses: ['draft'] as const }] : []))
    if (versions.length === 0) return []
    await writeDocuments([{ type, documentId, versions }], options, current)
    const changed = versions.map(({ locale }) => locale)
    copyStamps({ type, documentId, locales: changed }, options)
    return changed
  },
}

/** New values of the draft; undefined: there is no published version. */
async function publishedValues(version: VersionName, current: Current, options: WriteOptions) {
  const { type, locale } = version
  const row = rowOf(version, 'published', current)
  if (!row) return undefined
  const place = { root: type, status: 'published', locale, current, options } as const
  const inverse = await inverseLists(version, row, options)
  return { locale, values: new Map([...valuesOf(type, row, type.attributes.values(), place), ...inverse]) }
}

const DISCARDING: Alignment = { from: 'published', to: 'draft' }

async function inverseLists(
  { type, locale }: VersionName,
  row: CurrentRow,
  options: WriteOptions,
): Promise<readonly (readonly [string, DesiredValue])[]> {
  const end = { key: numberIn(row, options.storage.table(type).key), locale }
  return Promise.all(
    [...type.attributes.values()].filter(isInverse).map(async attribute => {
      const relation = inverseRelation(type, attribute, options.storage)
      const align = await alignmentOf(relation, end, DISCARDING, options)
      return [
        attribute.name,
        { kind: 'links', targets: [], edit: { disconnect: [], connect: [], align } },
      ] as const
    }),
  )
}

/** A draft that differs in nothing is not modified (reference/rest.md#10-drafts, `publicationFilter`). */
function copyStamps(
  { type, documentId, locales }: Omit<Versions, 'current'>,
  { storage, transaction }: WriteOptions,
): void {
  const table = storage.table(type)
  const own = table.locale === null ? 'true' : `d.${name(table.locale)} = ANY ($2::text[])`
  const same = table.locale === null ? '' : ` AND p.${name(table.locale)} = d.${name(table.locale)}`
  const shared = type.localized ? ', shared_updated_at = p.shared_updated_at' : ''
  const updated = `updated_at = CASE WHEN ${own} THEN p.updated_at ELSE d.updated_at END${shared}`
  transaction.send({
    name: `stamp drafts of ${type.key}`,
    text: `UPDATE ${name(table.name)} d SET ${updated} FROM ${name(table.name)} p WHERE d.status = 'draft' AND p.status = 'published' AND p.${name(table.key)} = d.${name(table.key)}${same} AND d.${name(table.documentId)} = $1`,
    values: [documentId, ...(table.locale === null ? [] : [locales])],
  })
}

/** Attributes whose rows are removed with a version. */
export const attributesWithParts = ({ attributes }: ContentType): readonly Attribute[] =>
  [...attributes.values()].filter(each => componentsOf(each).length > 0)

/** Removes published versions with their own links; links to them stay (reference/documents.md#15-unpublishing-and-discarding). */
const unpublish: VersionChange = {
  attributes: attributesWithParts,
  async change({ type, documentId, locales, current }: Versions, _, options) {
    const found = locales.flatMap(locale => {
      const row = rowOf({ type, documentId, locale }, 'published', current)
      return row ? [{ locale, row }] : []
    })
    const gone = found.map(({ row }) => row)
    if (gone.length > 0) await removeVersions({ type, documentId, gone, current }, options)
    return found.map(({ locale }) => locale)
  },
}

/** The published version as it is by now, where there is one. */
export async function removePublished(version: VersionName, options: WriteOptions): Promise<void> {
  const { type, documentId } = version
  const current = await loadDocument(version, { attributes: attributesWithParts(type) }, options)
  const row = rowOf(version, 'published', current)
  if (row) await removeVersions({ type, documentId, gone: [row], current }, options)
}

/** Makes published versions their drafts' equals (reference/documents.md#14-publishing): what a change that changes nothing does. */
const publish: VersionChange = {
  attributes: type => [...type.attributes.values()].filter(each => !isCopied(each)),
  async change({ type, documentId, locales, current: known }, asked, options) {
    const changes = { kind: 'update', status: 'published', values: {}, precondition: null } as const
    const attributes = [...type.attributes.values()].filter(each => !isCopied(each))
    const body = NOTHING_GIVEN
    for (const [index, locale] of locales.entries()) {
      const command: SaveCommand = { ...asked, ...changes, documentId, locale }
      // The locale before may have changed what all of them share.
      const current = index === 0 ? known : await loadDocument({ type, documentId }, { attributes }, options)
      const visible = visibleBy(command.conditions, options)
      const targets = findSavedTargets(command, body, {
        ...options,
        visible,
        held: async () => () => new Set(),
      })
      const { prefetch, cached } = openPrefetch(options.transaction)
      const saving = {
        command,
        documentId,
        body,
        current,
        targets,
        options: { ...options, transaction: cached },
      }
      prefetchConflicts(saving, prefetch)
      await saveVersion(saving)
    }
    return locales
  },
}

/** Lists of its own are copied in the database. */
const isCopied = (attribute: Attribute): boolean =>
  attribute.kind === 'relation' && attribute.side === 'owner' && attribute.many

/** Prefetches the unique check of the draft's values, in the round trip of the inverse links. */
function prefetchConflicts(saving: Saving, prefetch: LockingOptions['transaction']): void {
  const { command, documentId, options } = saving
  const { type } = command
  const context = versionContextOf(saving)
  if (!context.row) return
  const values = valuesOf(type, context.row, type.attributes.values(), context.place)
  const document = { type, documentId, versions: [versionOf(command, values)] }
  ignoreUnhandled(checkUnique(document, context, { ...options, transaction: prefetch }))
}

type Command = PermittedCommand<StatusCommand>

const CHANGES = { publish, unpublish, discardDraft } as const satisfies Record<StatusChange, VersionChange>

export interface StatusChanged {
  readonly documentId: string
  /** Share the round trip of the commit: not to be awaited before. */
  readonly texts: Promise<readonly string[]>
}

/** Changes the status of the locales that are meant: of all of them, or where one is refused of none. */
export async function changeStatus(
  command: Command,
  answer: Answer,
  options: StatusOptions,
): Promise<StatusChanged> {
  const { type, conditions } = command
  if (!type.draftAndPublish) throw new RequestFault(noDrafts(command))
  const documentId = command.documentId ?? (await findSingle(type, options))
  if (documentId === null) throw new RequestFault(notFound())
  const status = CHANGES[command.kind]
  const { prefetch, cached } = openPrefetch(options.transaction)
  const loading = loadDocument(
    { type, documentId },
    { attributes: status.attributes(type), allRows: true },
    options,
  )
  const match = { type, documentIds: [documentId], locale: choiceOf(type, command.locale) }
  const { before, after } = conditions
  const written = { ...command, documentId }
  // What is published goes with unpublishing, and is replaced by a draft that meets the condition otherwise.
  const statuses = command.kind === 'unpublish' ? STATUSES : (['draft'] as const)
  // Asked behind the lock, in the same round trip.
  ignoreUnhandled(visibleLocales(written, { ...options, transaction: prefetch }))
  for (const one of before ? statuses : [])
    ignoreUnhandled(
      countMatching({ ...match, filter: before, status: one }, { ...options, transaction: prefetch }),
    )
  const current = await loading
  const locales = selectedLocales(command, current.rows(type, documentId))
  if (locales.length === 0) throw new RequestFault(notFound())
  const asking = { ...options, transaction: cached }
  await assertVisible(written, current.rows(type, documentId), asking)
  const rows = statuses.flatMap(each =>
    locales.flatMap(locale => rowOf({ type, documentId, locale }, each, current) ?? []),
  )
  if (before) await assertWritable({ match: { ...match, filter: before }, rows, conditions }, asking)
  const changed = await status.change({ type, documentId, locales, current }, command, options)
  if (after) await assertMatches({ ...match, filter: after }, locales.length, options)
  const changes = changed.map(each => ({ locale: each, action: command.kind }))
  const texts = ignoreUnhandled(answersIn(changed, { answer, documentId }, options))
  options.recordChange({ type, documentId, changes, origin: originOf(command) })
  return { documentId, texts }
}

/** Every version has a draft. */
function selectedLocales({ type, locale }: Command, rows: readonly CurrentRow[]): readonly LocaleName[] {
  const drafts = rows.filter(row => row.get('status') === 'draft')
  const locales = drafts.map(row => (type.localized ? String(row.get('locale')) : null))
  return locale === null || !type.localized ? locales : locales.filter(each => each === locale)
}

async function answersIn(
  locales: readonly LocaleName[],
  { answer, documentId }: { readonly answer: Answer; readonly documentId: string },
  options: StatusOptions,
): Promise<readonly string[]> {
  const texts = await Promise.all(
    locales.map(locale => {
      const query = { ...answer.query, locale: choiceOf(answer.query.type, locale) }
      return readAnswer({ ...answer, query }, documentId, options)
    }),
  )
  return texts.filter(text => text !== null)
}

const WORDS = {
  publish: 'published',
  unpublish: 'unpublished',
  discardDraft: 'brought back to their published version',
} as const satisfies Record<StatusChange, string>

const noDrafts = ({ type, kind }: { readonly type: ContentType; readonly kind: StatusChange }) =>
  fault(
    'validation',
    `Documents of ${type.key} cannot be ${WORDS[kind]}: the type has no drafts (draftAndPublish)`,
    { key: type.key },
  )

type StatusOptions = WriteOptions & { readonly transaction: Transaction; readonly recordChange: RecordChange }

/** A version of a type with drafts, whatever its status. */
export interface VersionName {
  readonly type: ContentType
  readonly documentId: string
  /** null exactly on types without locales. */
  readonly locale: string | null
}

/** null on types without locales. */
type LocaleName = string | null

/** Versions of one document. */
export interface Versions extends Omit<VersionName, 'locale'> {
  /** Locales whose status changes. Each has a draft. */
  readonly locales: readonly LocaleName[]
  /** The stored state, with all attributes that the change needs. */
  readonly current: Current
}

/** One kind of status change. */
export interface VersionChange {
  /** Attributes to load before the change. */
  attributes(type: ContentType): readonly Attribute[]
  /** Resolves to the locales that changed. */
  change(
    versions: Versions,
    command: PermittedCommand<StatusCommand>,
    options: StatusOptions,
  ): Promise<readonly LocaleName[]>
}

/** A version's row of one status. */
export const rowOf = (
  { type, documentId, locale }: VersionName,
  status: Status,
  current: Current,
): CurrentRow | undefined =>
  current
    .rows(type, documentId)
    .find(row => row.get('status') === status && (!type.localized || row.get('locale') === locale))
