import { LruCache } from '../../base/lru-cache.ts'
import { detachString, memoryBytes } from '../../base/text.ts'
import type { Statement } from '../../sql/statement.ts'
import type { Stored, Values, WrittenDocument, WrittenValue } from '../desired-state.ts'
import { type Sequences, sequencesOf } from '../sql/known-sequences.ts'
import { noChanges } from '../sql/write-rows.ts'
import { type FormTerms, formOf, type NewForm } from './insert-template.ts'
import { printNew } from './write-apply.ts'
import { planDocument } from './write-document.ts'
import { findKeys } from './write-keys.ts'
import { NOTHING_THERE } from './write-load.ts'
import type { WriteTerms } from './write-terms.ts'

/** A statement of new rows whose values are still to come. */
interface Recipe {
  readonly name: string
  readonly text: string
  /** By parameter: the place of its value in the form's, or what it always is. */
  readonly parameters: readonly (number | { readonly always: unknown })[]
}

const BOUNDS = { entries: 1000, bytes: 4_000_000 } as const

/** As long as sequences are called so: their names are in the texts. null: it takes more than one statement. */
const known = new WeakMap<Sequences, LruCache<Recipe | null>>()

/**
 * The one statement that makes a document, planned and printed once for all documents that differ in values alone.
 * undefined: it has to be planned by itself.
 */
export async function printNewDocument(
  documents: readonly WrittenDocument[],
  terms: WriteTerms,
): Promise<Statement | undefined> {
  const [document, ...others] = documents
  if (!document || others.length > 0) return undefined
  const beside = { now: terms.now, proof: terms.proof, question: terms.answer?.question }
  const form = formOf(document, beside)
  if (!form) return undefined
  const recipes = recipesOf(await sequencesOf(terms))
  const before = recipes.get(form.key)
  const recipe = before === undefined ? await recipeOf(document, form, { ...terms, ...beside }) : before
  if (before === undefined) recipes.set(form.key, recipe)
  return recipe === null ? undefined : fill(recipe, form.values)
}

function recipesOf(sequences: Sequences): LruCache<Recipe | null> {
  const before = known.get(sequences)
  if (before) return before
  const recipes = new LruCache<Recipe | null>(BOUNDS, sizeOf)
  known.set(sequences, recipes)
  return recipes
}

const sizeOf = (recipe: Recipe | null): number =>
  recipe === null ? 0 : memoryBytes(recipe.text) + 40 * recipe.parameters.length

const fill = ({ name, text, parameters }: Recipe, values: readonly Stored[]): Statement => ({
  name,
  text,
  values: parameters.map(each => (typeof each === 'number' ? values[each] : each.always)),
  keepsPlan: true,
})

/** Plans a document of the form that holds marks for values, and finds them in what is printed. */
async function recipeOf(
  document: WrittenDocument,
  form: NewForm,
  terms: WriteTerms & FormTerms,
): Promise<Recipe | null> {
  const marks = form.values.map(markOf)
  const { marked, ...beside } = mark(document, marks, terms)
  const check = formOf(marked, beside)
  if (check?.key !== form.key || !check.values.every((value, index) => value === marks[index]))
    throw new TypeError(`the marks of a new ${document.type.key} are in another order than its values`)
  const statement = await print(marked, { ...terms, ...beside })
  // What is not just put in, or not at all, is not to be filled in.
  if (!statement?.keepsPlan || !marks.every(each => statement.values.includes(each))) return null
  const places = new Map<unknown, number>(marks.map((each, index) => [each, index]))
  return {
    name: statement.name ?? '',
    text: detachString(statement.text),
    parameters: statement.values.map(value => places.get(value) ?? { always: value }),
  }
}

async function print(
  document: WrittenDocument,
  terms: WriteTerms & FormTerms,
): Promise<Statement | undefined> {
  const keys = await findKeys([document], NOTHING_THERE, terms)
  const changes = noChanges()
  planDocument(document, { current: NOTHING_THERE, keys, terms, changes })
  return printNew(changes, terms, terms.question)
}

/** No value is like it: PostgreSQL takes no NUL in texts, and keys are above zero. */
const markOf = (value: Stored, index: number): Stored =>
  typeof value === 'number' ? -(2 ** 50) - index : `\0${index}`

/** The document with marks in the places of its values, in the order of its form. */
function mark(document: WrittenDocument, marks: readonly Stored[], { proof, question }: FormTerms) {
  const left = marks.values()
  const next = (): Stored => left.next().value ?? null
  const text = () => String(next())
  const [documentId, now] = [text(), text()]
  const versions = document.versions.map(version => {
    const at = version.publishing?.at
    const publishing = version.publishing && { ...version.publishing, at: at === undefined ? at : text() }
    const values = markValues(version.values, next)
    return { ...version, values, ...(publishing && { publishing }) }
  })
  const marked: WrittenDocument = { ...document, documentId, versions }
  return {
    marked,
    now,
    proof: proof && { ...proof, values: proof.values.map(next) },
    question: question && { ...question, values: question.values.map(next) },
  }
}

const markValues = (values: Values, next: () => Stored): Values =>
  new Map(Array.from(values, ([name, value]) => [name, markValue(value, next)]))

function markValue(value: WrittenValue, next: () => Stored): WrittenValue {
  if (value.kind === 'scalar') return { kind: 'scalar', value: next() }
  if (value.kind === 'links')
    return { kind: 'links', targets: value.targets.map(each => ({ ...each, key: Number(next()) })) }
  return {
    kind: 'components',
    items: value.items.map(item => ({ ...item, values: markValues(item.values, next) })),
  }
}
