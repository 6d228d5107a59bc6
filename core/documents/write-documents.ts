import { LruCache } from '../base/lru-cache.ts'
import { memoize } from '../base/memo.ts'
import { detachString, memoryBytes } from '../base/text.ts'
import { fitsIndex } from '../model/columns.ts'
import type { ContentType, Holder, ScalarAttribute } from '../model/model.ts'
import type { Statement } from '../sql/statement.ts'
import {
  type Cell,
  type DesiredDocument,
  type DesiredValue,
  type LinkTarget,
  type OwnEdit,
  Slot,
  type Stored,
  type Values,
} from './desired-state.ts'
import { type OwnList, printOwnEdit } from './links/own-list-sql.ts'
import { isInverselyLinked, writeInverses } from './links/write-inverse.ts'
import type { Planning } from './rows/planning.ts'
import { applyChanges, printNew } from './rows/write-apply.ts'
import { planDocument } from './rows/write-document.ts'
import { findKeys } from './rows/write-keys.ts'
import { type Current, loadCurrent, NO_CURRENT_ROWS, tableLinkOf } from './rows/write-load.ts'
import type { PlanTerms, WriteTerms } from './rows/write-terms.ts'
import { type Sequences, sequencesOf } from './sql/known-sequences.ts'
import type { Assertion, ReturningQuery } from './sql/print-changes.ts'
import { columnsOf, hasSpare } from './sql/write-print.ts'
import { noChanges } from './sql/write-rows.ts'

/**
 * Writes whole documents inside a transaction: only what changes, in as many statements as there are tables and
 * sets of columns, however many documents. A document is made where there is none of its id. Links to documents
 * that are not there are left out: the caller has to check first. `loaded`: what is there, where it was read already.
 */
export async function writeDocuments(
  documents: readonly DesiredDocument[],
  terms: WriteTerms,
  loaded?: Current,
): Promise<void> {
  if (loaded === NO_CURRENT_ROWS) {
    const statement = await printNewDocument(documents, terms)
    if (statement && terms.answer) return terms.answer.tell(terms.transaction.run(statement))
    if (statement) return terms.transaction.send(statement)
  }
  const current = loaded ?? (await loadCurrent(documents, terms))
  const keys = await findKeys(documents, current, terms)
  const planning: Planning = { current, keys, terms, changes: noChanges() }
  for (const document of documents)
    planDocument(document, { ...planning, terms: { ...terms, now: document.at ?? terms.now } })
  if (documents.length > 1) releaseSwapped(new Set(documents.map(({ type }) => type)), planning)
  const ids = await applyChanges(planning.changes, terms, {
    allocated: documents.some(
      each => isInverselyLinked(each) && typeof keys(each.type, each.documentId) !== 'number',
    ),
    proof: terms.proof,
  })
  await writeOwnEdits(planning.changes.edits, terms)
  await writeInverses(documents, { keys, ids, terms })
}

/** Edits the lists that versions own: statements that are only sent. */
async function writeOwnEdits(edits: readonly OwnEdit[], terms: WriteTerms): Promise<void> {
  if (edits.length === 0) return
  const sequences = await sequencesOf(terms)
  for (const own of edits) {
    const link = tableLinkOf(own.type, own.attribute.name, terms)
    const { name: table, status, locale } = terms.storage.table(own.type)
    const list: OwnList = { link, owner: { table, status, locale } }
    const sequence = sequences.get(link.table)
    if (sequence === undefined) throw new TypeError(`no sequence of ${link.table}`)
    for (const statement of printOwnEdit(list, own, sequence)) terms.transaction.send(statement)
  }
}

/**
 * Documents that are written together may swap values that must be unique: where several get others, all are emptied
 * first. Values that are required hold an unused value meanwhile; where their type has no such value
 * (enumerations, booleans, times), the database refuses a swap.
 */
function releaseSwapped(types: Iterable<ContentType>, { changes, terms }: Planning): void {
  for (const type of types) {
    const { name: table } = terms.storage.table(type)
    for (const attribute of type.attributes.values()) {
      if (attribute.kind !== 'scalar' || !attribute.unique || !fitsIndex(attribute)) continue
      const column = terms.storage.column(type, attribute.name)
      if (attribute.required && !isFillable(attribute, columnsOf(terms.storage, table).get(column))) continue
      const moved = changes.updates.filter(each => each.table === table && each.columns.has(column))
      if (moved.length < 2) continue
      const how = { columns: [column], ...(attribute.required ? ({ filled: true } as const) : {}) }
      changes.releases.push(...moved.map(({ key }) => ({ table, holding: key, ...how })))
    }
  }
}

const isFillable = ({ values }: ScalarAttribute, type: Parameters<typeof hasSpare>[0]): boolean =>
  !values && hasSpare(type)

/** A statement of new rows whose values are filled in later. */
interface InsertTemplate {
  readonly name: string
  readonly text: string
  /** The slot of each parameter, or a value that is the same for all documents of the shape. */
  readonly parameters: readonly (Slot | { readonly kind: 'constant'; readonly value: unknown })[]
}

const BOUNDS = { entries: 1000, bytes: 4_000_000 } as const

/**
 * Templates by shape. Their texts contain the names of the sequences, so they are cached per set of names.
 * null: the shape takes more than one statement.
 */
const templatesOf = memoize((_: Sequences) => new LruCache<InsertTemplate | null>(BOUNDS, sizeOf))

const sizeOf = (template: InsertTemplate | null): number =>
  template === null ? 0 : memoryBytes(template.text) + 40 * template.parameters.length

/**
 * The one statement that creates a document. It is planned and printed once for all documents that differ only in values.
 * undefined: the document has to be planned on the general path.
 */
async function printNewDocument(
  documents: readonly DesiredDocument[],
  terms: WriteTerms,
): Promise<Statement | undefined> {
  const [document, ...others] = documents
  if (!document || others.length > 0) return undefined
  const extras = { now: terms.now, proof: terms.proof, question: terms.answer?.question }
  const shape = insertShapeOf(document, extras)
  if (!shape) return undefined
  const templates = templatesOf(await sequencesOf(terms))
  const cached = templates.get(shape.key)
  const template = cached === undefined ? await templateOf({ document, extras }, shape, terms) : cached
  if (cached === undefined) templates.set(shape.key, template)
  return template === null ? undefined : fill(template, shape.values)
}

const fill = ({ name, text, parameters }: InsertTemplate, values: readonly Stored[]): Statement => ({
  name,
  text,
  values: parameters.map(each => (each.kind === 'slot' ? values[each.index] : each.value)),
  keepsPlan: true,
})

/** Plans the document with slots instead of values. null: its text depends on the values, or not every value is a parameter. */
async function templateOf(
  input: InsertInput,
  shape: InsertShape,
  terms: WriteTerms,
): Promise<InsertTemplate | null> {
  const { document, extras } = withSlots(input)
  const slotted = insertShapeOf(document, extras)
  if (slotted?.key !== shape.key || !slotted.values.every(isInPlace))
    throw new TypeError(`the slots of a new ${document.type.key} are in another order than its values`)
  const statement = await print(document, { ...terms, ...extras })
  if (!statement?.keepsPlan) return null
  const printed = new Set(statement.values.filter(value => value instanceof Slot))
  if (printed.size < shape.values.length) return null
  return {
    name: statement.name ?? '',
    text: detachString(statement.text),
    parameters: statement.values.map(value => (value instanceof Slot ? value : { kind: 'constant', value })),
  }
}

const isInPlace = (value: Cell, index: number): boolean => value instanceof Slot && value.index === index

async function print(
  document: DesiredDocument<Slot>,
  terms: PlanTerms & InsertExtras<Slot>,
): Promise<Statement | undefined> {
  const keys = await findKeys([document], NO_CURRENT_ROWS, terms)
  const changes = noChanges()
  planDocument(document, { current: NO_CURRENT_ROWS, keys, terms, changes })
  return printNew(changes, terms, terms.question)
}

type NextSlot = () => Slot

/** Replaces all values by slots, numbered in the order of `insertShapeOf`. */
function withSlots({ document, extras: { proof, question } }: InsertInput): InsertInput<Slot> {
  let count = 0
  const next: NextSlot = () => new Slot(count++)
  const [documentId, now] = [next(), next()]
  const versions = document.versions.map(({ publishing, values, ...version }) => {
    const at = publishing?.at === undefined ? undefined : next()
    return {
      ...version,
      ...(publishing && { publishing: { ...publishing, at } }),
      values: slotValues(values, next),
    }
  })
  return {
    document: { ...document, documentId, versions },
    extras: {
      now,
      proof: proof && { ...proof, values: proof.values.map(next) },
      question: question && { ...question, values: question.values.map(next) },
    },
  }
}

const slotValues = (values: Values, next: NextSlot): Values<Slot> =>
  new Map(Array.from(values, ([name, value]) => [name, slotValue(value, next)]))

function slotValue(value: DesiredValue, next: NextSlot): DesiredValue<Slot> {
  if (value.kind === 'scalar') return { kind: 'scalar', value: next() }
  if (value.kind === 'links')
    return { kind: 'links', targets: value.targets.map(target => ({ ...target, key: next() })) }
  return {
    kind: 'components',
    items: value.items.map(item => ({ ...item, values: slotValues(item.values, next) })),
  }
}

/** The part of a new document that its statement depends on, and the values that fill the statement. */
interface InsertShape<Placeholder = never> {
  readonly key: string
  /** In the same order for all documents of the shape. */
  readonly values: readonly (Stored | Placeholder)[]
}

/** Values of a create that are not in the document. */
interface InsertExtras<Placeholder = never> {
  readonly now: string | Placeholder
  readonly proof: Assertion<Placeholder> | undefined
  readonly question: ReturningQuery<Placeholder> | undefined
}

interface InsertInput<Placeholder = never> {
  readonly document: DesiredDocument<Placeholder>
  readonly extras: InsertExtras<Placeholder>
}

/** undefined: the statement depends on more than the shape. */
function insertShapeOf<Placeholder extends Slot = never>(
  { type, documentId, versions, at, key }: DesiredDocument<Placeholder>,
  { now, proof, question }: InsertExtras<Placeholder>,
): InsertShape<Placeholder> | undefined {
  const [version, ...others] = versions
  if (!version || others.length > 0 || version.rows || at !== undefined || key !== undefined) return undefined
  if (proof?.form === null) return undefined
  const { locale, statuses, publishing } = version
  const values: (Stored | Placeholder)[] = [documentId, now]
  if (publishing?.at !== undefined) values.push(publishing.at)
  const form = shapeOfValues(type, version.values, values)
  if (form === undefined) return undefined
  if (proof) values.push(...proof.values)
  if (question) values.push(...question.values)
  const moment = publishing?.at === undefined ? '' : '@'
  return {
    key: `${type.uid} ${locale} ${statuses}${moment}${form} ${proof?.form}\n${question?.text}`,
    values,
  }
}

function shapeOfValues(holder: Holder, named: Values<Slot>, values: Cell[]): string | undefined {
  let form = ''
  for (const [name, value] of named) {
    const each = shapeOfValue(holder, name, value, values)
    if (each === undefined) return undefined
    form += ` ${name}${each}`
  }
  return form
}

function shapeOfValue(
  holder: Holder,
  name: string,
  value: DesiredValue<Slot>,
  values: Cell[],
): string | undefined {
  if (value.kind === 'scalar') {
    values.push(value.value)
    return ''
  }
  if (value.kind === 'components') return shapeOfItems(value, values)
  const attribute = holder.attributes.get(name)
  if (value.edit || (attribute?.kind === 'relation' && attribute.side === 'inverse')) return undefined
  return shapeOfTargets(value.targets, values)
}

function shapeOfItems(
  { items }: Extract<DesiredValue<Slot>, { readonly kind: 'components' }>,
  values: Cell[],
): string | undefined {
  let form = '['
  for (const { component, id, values: inner } of items) {
    const each = id === null ? shapeOfValues(component, inner, values) : undefined
    if (each === undefined) return undefined
    form += `${component.uid}${each};`
  }
  return `${form}]`
}

/** undefined for a target that is listed twice: the list keeps one of them, which depends on the keys. */
function shapeOfTargets(targets: readonly LinkTarget<Slot>[], values: Cell[]): string | undefined {
  let form = '('
  const seen = new Set<number | Slot>()
  for (const { key, locale, status, inversePlace } of targets) {
    if (key === undefined || inversePlace !== undefined || seen.has(key)) return undefined
    seen.add(key)
    values.push(key)
    form += `${locale ?? ''} ${status ?? ''};`
  }
  return `${form})`
}
