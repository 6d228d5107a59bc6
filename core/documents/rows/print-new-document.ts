import { LruCache } from '../../base/lru-cache.ts'
import { detachString, memoryBytes } from '../../base/text.ts'
import type { Holder } from '../../model/model.ts'
import type { Statement } from '../../sql/statement.ts'
import type { DesiredDocument, DesiredValue, LinkTarget, Stored, Values } from '../desired-state.ts'
import { type Sequences, sequencesOf } from '../sql/known-sequences.ts'
import type { Assertion, ReturningQuery } from '../sql/print-changes.ts'
import { noChanges } from '../sql/write-rows.ts'
import { printNew } from './write-apply.ts'
import { planDocument } from './write-document.ts'
import { findKeys } from './write-keys.ts'
import { NO_CURRENT_ROWS } from './write-load.ts'
import type { WriteTerms } from './write-terms.ts'

/** A statement of new rows whose values are still to come. */
interface InsertTemplate {
  readonly name: string
  readonly text: string
  /** By parameter: the place of its value in the form's, or what it always is. */
  readonly parameters: readonly (number | { readonly always: unknown })[]
}

const BOUNDS = { entries: 1000, bytes: 4_000_000 } as const

/** Templates by shape, for as long as the sequences keep their names, which the texts contain. null: the shape takes more than one statement. */
const known = new WeakMap<Sequences, LruCache<InsertTemplate | null>>()

/**
 * The one statement that makes a document, planned and printed once for all documents that differ in values alone.
 * undefined: the document must be planned on its own.
 */
export async function printNewDocument(
  documents: readonly DesiredDocument[],
  terms: WriteTerms,
): Promise<Statement | undefined> {
  const [document, ...others] = documents
  if (!document || others.length > 0) return undefined
  const beside = { now: terms.now, proof: terms.proof, question: terms.answer?.question }
  const form = insertShapeOf(document, beside)
  if (!form) return undefined
  const recipes = templatesOf(await sequencesOf(terms))
  const before = recipes.get(form.key)
  const recipe = before === undefined ? await templateOf(document, form, { ...terms, ...beside }) : before
  if (before === undefined) recipes.set(form.key, recipe)
  return recipe === null ? undefined : fill(recipe, form.values)
}

function templatesOf(sequences: Sequences): LruCache<InsertTemplate | null> {
  const before = known.get(sequences)
  if (before) return before
  const recipes = new LruCache<InsertTemplate | null>(BOUNDS, sizeOf)
  known.set(sequences, recipes)
  return recipes
}

const sizeOf = (recipe: InsertTemplate | null): number =>
  recipe === null ? 0 : memoryBytes(recipe.text) + 40 * recipe.parameters.length

const fill = ({ name, text, parameters }: InsertTemplate, values: readonly Stored[]): Statement => ({
  name,
  text,
  values: parameters.map(each => (typeof each === 'number' ? values[each] : each.always)),
  keepsPlan: true,
})

/** Plans a document of the form that holds marks for values, and finds them in what is printed. */
async function templateOf(
  document: DesiredDocument,
  form: InsertShape,
  terms: WriteTerms & InsertShapeTerms,
): Promise<InsertTemplate | null> {
  const marks = form.values.map(placeholderOf)
  const { marked, ...beside } = withPlaceholders(document, marks, terms)
  const check = insertShapeOf(marked, beside)
  if (check?.key !== form.key || !check.values.every((value, index) => value === marks[index]))
    throw new TypeError(`the marks of a new ${document.type.key} are in another order than its values`)
  const statement = await print(marked, { ...terms, ...beside })
  // A template needs every value as a parameter of its own: others depend on the values themselves.
  if (!statement?.keepsPlan || !marks.every(each => statement.values.includes(each))) return null
  const places = new Map<unknown, number>(marks.map((each, index) => [each, index]))
  return {
    name: statement.name ?? '',
    text: detachString(statement.text),
    parameters: statement.values.map(value => places.get(value) ?? { always: value }),
  }
}

async function print(
  document: DesiredDocument,
  terms: WriteTerms & InsertShapeTerms,
): Promise<Statement | undefined> {
  const keys = await findKeys([document], NO_CURRENT_ROWS, terms)
  const changes = noChanges()
  planDocument(document, { current: NO_CURRENT_ROWS, keys, terms, changes })
  return printNew(changes, terms, terms.question)
}

/** No value is like it: PostgreSQL takes no NUL in texts, and keys are above zero. */
const placeholderOf = (value: Stored, index: number): Stored =>
  typeof value === 'number' ? -(2 ** 50) - index : `\0${index}`

/** The document with marks in the places of its values, in the order of its form. */
function withPlaceholders(
  document: DesiredDocument,
  marks: readonly Stored[],
  { proof, question }: InsertShapeTerms,
) {
  const left = marks.values()
  const next = (): Stored => left.next().value ?? null
  const text = () => String(next())
  const [documentId, now] = [text(), text()]
  const versions = document.versions.map(version => {
    const at = version.publishing?.at
    const publishing = version.publishing && { ...version.publishing, at: at === undefined ? at : text() }
    const values = placeholdersInValues(version.values, next)
    return { ...version, values, ...(publishing && { publishing }) }
  })
  const marked: DesiredDocument = { ...document, documentId, versions }
  return {
    marked,
    now,
    proof: proof && { ...proof, values: proof.values.map(next) },
    question: question && { ...question, values: question.values.map(next) },
  }
}

const placeholdersInValues = (values: Values, next: () => Stored): Values =>
  new Map(Array.from(values, ([name, value]) => [name, placeholdersInValue(value, next)]))

function placeholdersInValue(value: DesiredValue, next: () => Stored): DesiredValue {
  if (value.kind === 'scalar') return { kind: 'scalar', value: next() }
  if (value.kind === 'links')
    return { kind: 'links', targets: value.targets.map(each => ({ ...each, key: Number(next()) })) }
  return {
    kind: 'components',
    items: value.items.map(item => ({ ...item, values: placeholdersInValues(item.values, next) })),
  }
}

/** The shape that the statement of a new document depends on, and the values that fill it. */
interface InsertShape {
  readonly key: string
  /** In one order for all documents of the form. */
  readonly values: readonly Stored[]
}

interface InsertShapeTerms {
  readonly now: string
  readonly proof: Assertion | undefined
  readonly question: ReturningQuery | undefined
}

/** undefined: more than the values decides on how it is written. */
function insertShapeOf(
  { type, documentId, versions, at, key }: DesiredDocument,
  { now, proof, question }: InsertShapeTerms,
): InsertShape | undefined {
  const [version, ...others] = versions
  if (!version || others.length > 0 || version.rows || at !== undefined || key !== undefined) return undefined
  if (proof?.form === null) return undefined
  const { locale, statuses, publishing } = version
  const values: Stored[] = [documentId, now]
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

function shapeOfValues(holder: Holder, of: Values, values: Stored[]): string | undefined {
  let form = ''
  for (const [name, value] of of) {
    const each = shapeOfValue(holder, name, value, values)
    if (each === undefined) return undefined
    form += ` ${name}${each}`
  }
  return form
}

function shapeOfValue(
  holder: Holder,
  name: string,
  value: DesiredValue,
  values: Stored[],
): string | undefined {
  if (value.kind === 'scalar') {
    values.push(value.value)
    return ''
  }
  if (value.kind === 'components') return shapeOfItems(value, values)
  const attribute = holder.attributes.get(name)
  if (attribute?.kind === 'relation' && attribute.side === 'inverse') return undefined
  return shapeOfTargets(value.targets, values)
}

function shapeOfItems(
  { items }: Extract<DesiredValue, { readonly kind: 'components' }>,
  values: Stored[],
): string | undefined {
  let form = '['
  for (const { component, id, values: inner } of items) {
    const each = id === null ? shapeOfValues(component, inner, values) : undefined
    if (each === undefined) return undefined
    form += `${component.uid}${each};`
  }
  return `${form}]`
}

/** One that is named twice counts once: that is seen by its key alone. */
function shapeOfTargets(targets: readonly LinkTarget[], values: Stored[]): string | undefined {
  let form = '('
  const seen = new Set<number>()
  for (const { key, locale, status, inversePlace } of targets) {
    if (key === undefined || inversePlace !== undefined || seen.has(key)) return undefined
    seen.add(key)
    values.push(key)
    form += `${locale ?? ''} ${status ?? ''};`
  }
  return `${form})`
}
