import type { RelationAttribute } from '../../model/model.ts'
import type { Alignment, DesiredValue, LinkAlignment, LinkTarget } from '../desired-state.ts'
import { printDiffering } from '../links/align-inverse.ts'
import { type InverseEnd, type InverseRelation, inverseRelation } from '../links/inverse-sql.ts'
import { type ChangeTerms, type LinkOperation, operationOf } from '../links/link-change.ts'
import { hasOthers, inverseRows, type ListRows } from '../links/list-bounds.ts'
import { placeLinks } from '../links/place-links.ts'
import { isInverse } from '../links/write-inverse.ts'
import type { WriteTerms } from '../rows/write-terms.ts'
import { numberIn } from '../sql/write-rows.ts'
import { viewOf, WHOLE_DRAFT } from './list-view.ts'
import { isPublishing, type Saving, type VersionContext } from './version-context.ts'

type Edit = Extract<LinkOperation, { readonly kind: 'edit' }>

type Edits = ReadonlyMap<string, DesiredValue>

/**
 * What a write does to the lists of inverse attributes. The lists themselves stay in the database: read here is only
 * what is next to the places that the body names, and which owners publishing has to bring in line.
 */
export async function inverseEdits(
  saving: Saving,
  standing: VersionContext,
  terms: ChangeTerms,
): Promise<Edits> {
  const { type } = saving.command
  const attributes = [...type.attributes.values()].filter(isInverse)
  if (attributes.length === 0) return new Map()
  const found = await Promise.all(attributes.map(each => editOf(each, saving, standing, terms)))
  return new Map(found.flatMap(value => (value ? [value] : [])))
}

async function editOf(
  attribute: RelationAttribute,
  saving: Saving,
  { row, sibling }: VersionContext,
  terms: ChangeTerms,
): Promise<readonly [string, DesiredValue] | undefined> {
  const { command, body } = saving
  const given = body.faults.length > 0 ? undefined : body.values.get(attribute.name)
  const known = row ?? sibling
  const { storage } = saving.terms
  const relation = inverseRelation(command.type, attribute, storage)
  const end = known && { key: numberIn(known, storage.table(command.type).key), locale: command.locale }
  const change = given?.kind === 'links' ? given.change : undefined
  const operation = change ? operationOf(attribute, change, terms) : NOTHING
  if (operation.kind === 'set' && end) return [attribute.name, { kind: 'links', targets: operation.targets }]
  const align =
    end && isPublishing(command) ? await alignmentOf(relation, end, PUBLISHING, saving.terms) : undefined
  if (!change && !align) return undefined
  return [attribute.name, await edited({ relation, end, operation, align }, saving, terms)]
}

const NOTHING: Edit = { kind: 'edit', disconnect: [], connect: [], neighbours: new Set() }

const PUBLISHING: Alignment = { from: 'draft', to: 'published' }

/** Locks the owners. */
export async function alignmentOf(
  relation: InverseRelation,
  end: InverseEnd,
  alignment: Alignment,
  { transaction }: Pick<WriteTerms, 'transaction'>,
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

/** As `targets` of an edit say that the list is not empty. */
const SOMETHING: readonly LinkTarget[] = [{ documentId: '', locale: null, status: null }]

async function edited(
  { relation, end, operation, align }: Editing,
  saving: Saving,
  { found }: ChangeTerms,
): Promise<DesiredValue> {
  if (operation.kind === 'set') return { kind: 'links', targets: operation.targets }
  const { disconnect } = operation
  const view = await viewOf(saving, relation.attribute, { body: saving.body, found })
  const connect = await placeLinks(operation, end ? inverseRows(relation, end, view) : null, saving.terms)
  const isFilled = connect.length > 0 || (await isLeft({ relation, end, operation }, saving.terms))
  const edit = { disconnect, connect, ...(align && { align }) }
  return { kind: 'links', targets: isFilled ? SOMETHING : [], edit }
}

/** Whether something is left of a list that may not be empty. */
async function isLeft(
  { relation, end, operation }: Pick<Editing, 'relation' | 'end'> & { readonly operation: Edit },
  terms: WriteTerms,
): Promise<boolean> {
  if (!relation.attribute.required || !end) return false
  const list: ListRows = inverseRows(relation, end, WHOLE_DRAFT)
  const statuses = relation.choosesStatus ? 2 : 1
  const counts = new Map<number, number>()
  for (const { key } of operation.disconnect)
    if (key !== undefined) counts.set(key, (counts.get(key) ?? 0) + 1)
  const gone = [...counts].flatMap(([key, count]) => (count >= statuses ? [key] : []))
  return hasOthers(list, gone, terms)
}
