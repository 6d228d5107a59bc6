import type { ContentType, RelationAttribute } from '../../model/model.ts'
import type { TargetRef } from '../../query/command.ts'
import type { Alignment, DesiredValue, LinkAlignment, LinkTarget } from '../desired-state.ts'
import { printDiffering } from '../links/align-inverse.ts'
import { type InverseEnd, type InverseRelation, inverseRelation } from '../links/inverse-sql.ts'
import { type ChangeOptions, type LinkOperation, operationOf } from '../links/link-change.ts'
import { placeRef } from '../links/link-targets.ts'
import { hasOthers, inverseRows, type ListRows, placeLinks } from '../links/list-bounds.ts'
import { ownRows } from '../links/own-list-sql.ts'
import { isInverse } from '../links/write-inverse.ts'
import { choiceOf, countMatching, draftsSeenBy } from '../read/matching.ts'
import type { ListView } from '../rows/list-places.ts'
import { tableLinkOf } from '../rows/write-load.ts'
import type { WriteOptions } from '../rows/write-options.ts'
import { type CurrentRow, numberIn } from '../sql/write-rows.ts'
import type { GivenBody } from '../values/given-body.ts'
import { isLocale, isPublishing, type Saving, staysInPlace, type VersionContext } from './version-context.ts'

export const WHOLE_DRAFT: ListView = { status: 'draft', drafted: null }

/** `target`: the type that the list is of. */
export async function viewOf(
  { command, options, documentId }: Writer,
  { name, target }: { readonly name: string; readonly target: ContentType },
  { body, found }: { readonly body: GivenBody; readonly found: ChangeOptions['found'] },
): Promise<ListView> {
  const named = neighbours(body, name)
  if (named.length === 0) return WHOLE_DRAFT
  const documents = new Map(
    named.map(by => {
      const { documentId, key } = found(target, placeRef(by))
      return [documentId, key]
    }),
  )
  const status = (await seesDraft({ command, options, documentId })) ? 'draft' : 'published'
  const match = { type: target, documentIds: [...documents.keys()] }
  const seen = await draftsSeenBy(command.conditions, match, options)
  const drafted = seen && [...documents].flatMap(([id, key]) => (seen.has(id) ? [key] : []))
  return { status, drafted }
}

type Writer = Pick<Saving, 'command' | 'options' | 'documentId'>

async function seesDraft({ command, options, documentId }: Writer): Promise<boolean> {
  const { type, conditions, locale } = command
  const { drafts } = conditions
  if (!type.draftAndPublish || drafts?.where === null) return true
  if (drafts === null) return false
  const match = { type, documentIds: [documentId], locale: choiceOf(type, locale), filter: drafts.where }
  return (await countMatching(match, options)) > 0
}

/** The documents that positions name. */
function neighbours({ values }: GivenBody, name: string): readonly TargetRef['by'][] {
  const value = values.get(name)
  if (value?.kind !== 'links' || value.change?.kind !== 'change') return []
  return value.change.connect.flatMap(({ position }) => ('by' in position ? [position.by] : []))
}

type Edits = ReadonlyMap<string, DesiredValue>

/** The edits that a write makes to lists of an existing version, without reading their links. */
export async function ownEdits(
  saving: Saving,
  { row }: VersionContext,
  options: ChangeOptions,
): Promise<Edits> {
  const { command, body } = saving
  if (!row) return new Map()
  const edits = [...command.type.attributes.values()]
    .filter(each => staysInPlace(each, command, body))
    .map(async attribute => {
      const value = await ownEditOf(attribute, saving, row, options)
      return [attribute.name, value] as const
    })
  return new Map(await Promise.all(edits))
}

async function ownEditOf(
  attribute: RelationAttribute,
  saving: Saving,
  row: CurrentRow,
  options: ChangeOptions,
): Promise<DesiredValue> {
  const input = saving.body.values.get(attribute.name)
  const change = input?.kind === 'links' ? input.change : undefined
  const operation = change ? operationOf(attribute, change, options) : NO_EDIT
  if (operation.kind === 'set') throw new TypeError(`${attribute.name} is no list that stays in place`)
  const link = tableLinkOf(saving.command.type, attribute.name, saving.options)
  const ids = rowIds(saving)
  const view = await viewOf(saving, attribute, { body: saving.body, found: options.found })
  const seen = view.status === 'draft' ? numberIn(row, 'id') : ids.published
  const list = ownRows({ attribute }, link, { row: seen ?? NO_ROW, rows: ids.all, view })
  const connect = await placeLinks(operation, list, saving.options)
  const { disconnect } = operation
  const whole = ownRows({ attribute }, link, { row: numberIn(row, 'id'), rows: ids.all, view: WHOLE_DRAFT })
  const isFilled =
    connect.length > 0 ||
    (attribute.required && (await hasOthers(whole, goneWhole(disconnect, link.targetStatus), saving.options)))
  return { kind: 'links', targets: isFilled ? SOMETHING : [], edit: { disconnect, connect } }
}

/** No row has it. */
const NO_ROW = 0

/** Documents to which nothing is left. */
function goneWhole(disconnect: readonly LinkTarget[], named: string | null): readonly number[] {
  const counts = new Map<number, number>()
  for (const { key } of disconnect) if (key !== undefined) counts.set(key, (counts.get(key) ?? 0) + 1)
  return [...counts].flatMap(([key, count]) => (count >= (named === null ? 1 : 2) ? [key] : []))
}

function rowIds({ command, documentId, current }: Saving) {
  const rows = current.rows(command.type, documentId).filter(row => isLocale(command, row))
  const published = rows.find(row => row.get('status') === 'published')
  return {
    all: rows.map(row => numberIn(row, 'id')),
    published: published && numberIn(published, 'id'),
  }
}

type Edit = Extract<LinkOperation, { readonly kind: 'edit' }>

/**
 * The edits that a write makes to lists of inverse attributes. The lists are not loaded: this reads only the neighbours
 * of the positions that the body names, and the owners whose published links have to follow their drafts.
 */
export async function inverseEdits(
  saving: Saving,
  context: VersionContext,
  options: ChangeOptions,
): Promise<Edits> {
  const { type } = saving.command
  const attributes = [...type.attributes.values()].filter(isInverse)
  if (attributes.length === 0) return new Map()
  const found = await Promise.all(attributes.map(each => inverseEditOf(each, saving, context, options)))
  return new Map(found.flatMap(value => (value ? [value] : [])))
}

async function inverseEditOf(
  attribute: RelationAttribute,
  saving: Saving,
  { row, sibling }: VersionContext,
  options: ChangeOptions,
): Promise<readonly [string, DesiredValue] | undefined> {
  const { command, body } = saving
  const input = body.faults.length > 0 ? undefined : body.values.get(attribute.name)
  const known = row ?? sibling
  const { storage } = saving.options
  const relation = inverseRelation(command.type, attribute, storage)
  const end = known && { key: numberIn(known, storage.table(command.type).key), locale: command.locale }
  const change = input?.kind === 'links' ? input.change : undefined
  const operation = change ? operationOf(attribute, change, options) : NO_EDIT
  if (operation.kind === 'set' && end) return [attribute.name, { kind: 'links', targets: operation.targets }]
  const align =
    end && isPublishing(command) ? await alignmentOf(relation, end, PUBLISHING, saving.options) : undefined
  if (!change && !align) return undefined
  return [attribute.name, await edited({ relation, end, operation, align }, saving, options)]
}

const NO_EDIT: Edit = { kind: 'edit', disconnect: [], connect: [], neighbours: new Map() }

const PUBLISHING: Alignment = { from: 'draft', to: 'published' }

/** Locks the owners. */
export async function alignmentOf(
  relation: InverseRelation,
  end: InverseEnd,
  alignment: Alignment,
  { transaction }: Pick<WriteOptions, 'transaction'>,
): Promise<LinkAlignment> {
  const { rows } = await transaction.run(printDiffering(relation, end, alignment.to))
  return { ...alignment, owners: [...new Set(rows.map(([key]) => Number(key)))] }
}

interface Editing {
  readonly relation: InverseRelation
  /** undefined: the document is being made. */
  readonly end: InverseEnd | undefined
  readonly operation: LinkOperation
  readonly align: LinkAlignment | undefined
}

/** The `targets` of an edit that leaves a list filled: a single placeholder. */
const SOMETHING: readonly LinkTarget[] = [{ documentId: '', locale: null, status: null }]

async function edited(
  { relation, end, operation, align }: Editing,
  saving: Saving,
  { found }: ChangeOptions,
): Promise<DesiredValue> {
  if (operation.kind === 'set') return { kind: 'links', targets: operation.targets }
  const { disconnect } = operation
  const view = await viewOf(saving, relation.attribute, { body: saving.body, found })
  const connect = await placeLinks(operation, end ? inverseRows(relation, end, view) : null, saving.options)
  const isFilled = connect.length > 0 || (await isLeft({ relation, end, operation }, saving.options))
  const edit = { disconnect, connect, ...(align && { align }) }
  return { kind: 'links', targets: isFilled ? SOMETHING : [], edit }
}

/** True if a list that may not be empty keeps at least one link. */
async function isLeft(
  { relation, end, operation }: Pick<Editing, 'relation' | 'end'> & { readonly operation: Edit },
  options: WriteOptions,
): Promise<boolean> {
  if (!relation.attribute.required || !end) return false
  const list: ListRows = inverseRows(relation, end, WHOLE_DRAFT)
  const statuses = relation.choosesStatus ? 2 : 1
  const counts = new Map<number, number>()
  for (const { key } of operation.disconnect)
    if (key !== undefined) counts.set(key, (counts.get(key) ?? 0) + 1)
  const gone = [...counts].flatMap(([key, count]) => (count >= statuses ? [key] : []))
  return hasOthers(list, gone, options)
}
