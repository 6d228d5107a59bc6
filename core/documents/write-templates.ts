import { LruCache } from '../base/lru-cache.ts'
import { memoize } from '../base/memo.ts'
import { detachString, memoryBytes } from '../base/text.ts'
import type { Holder } from '../model/model.ts'
import type { Statement } from '../sql/statement.ts'
import {
  type DesiredCell,
  type DesiredDocument,
  type DesiredValue,
  type LinkTarget,
  Slot,
  type Stored,
  type Values,
} from './desired-state.ts'
import type { WriteOptions } from './rows/write-options.ts'
import { type Sequences, sequencesOf } from './sql/known-sequences.ts'
import type { Assertion, ReturningQuery } from './sql/print-changes.ts'

/** A statement whose values are filled in later. */
interface ShapeTemplate {
  readonly name: string
  readonly text: string
  /** The slot of each parameter, or a value that is the same for all writes of the shape. */
  readonly parameters: readonly (Slot | { readonly kind: 'constant'; readonly value: unknown })[]
}

const BOUNDS = { entries: 1000, bytes: 4_000_000 } as const

/**
 * Templates by shape. Their texts contain the names of the sequences, so they are cached per set of names.
 * null: the shape takes more than one statement.
 */
const templatesOf = memoize((_: Sequences) => new LruCache<ShapeTemplate | null>(BOUNDS, sizeOf))

const sizeOf = (template: ShapeTemplate | null): number =>
  template === null ? 0 : memoryBytes(template.text) + 40 * template.parameters.length

/** How one shape is planned and printed, with slots for the values. undefined: it takes more than one statement. */
export interface ShapePrinter {
  /** Distinguishes the statements of one shape. */
  readonly form: string
  print(input: ShapedInput<Slot>): Promise<Statement | undefined>
}

/** The statement of a write. It is planned and printed once for all writes that differ only in values. undefined: there is none. */
export async function printShaped(
  input: ShapedInput,
  printer: ShapePrinter,
  options: Pick<WriteOptions, 'transaction' | 'storage' | 'schema'>,
): Promise<Statement | undefined> {
  const shape = shapeOf(input)
  if (!shape) return undefined
  const key = `${printer.form} ${shape.key}`
  const templates = templatesOf(await sequencesOf(options))
  const cached = templates.get(key)
  const template = cached === undefined ? await templateOf(input, shape, printer) : cached
  if (cached === undefined) templates.set(key, template)
  return template === null ? undefined : fill(template, shape.values)
}

const fill = ({ name, text, parameters }: ShapeTemplate, values: readonly Stored[]): Statement => ({
  name,
  text,
  values: parameters.map(each => (each.kind === 'slot' ? values[each.index] : each.value)),
  keepsPlan: true,
})

/** Plans the write with slots instead of values. null: its text depends on the values, or not every value is a parameter. */
async function templateOf(
  input: ShapedInput,
  shape: WriteShape,
  { print }: ShapePrinter,
): Promise<ShapeTemplate | null> {
  const slots = withSlots(input)
  const slotted = shapeOf(slots)
  if (slotted?.key !== shape.key || !slotted.values.every(isInPlace))
    throw new TypeError(`the slots of a ${input.document.type.key} are in another order than its values`)
  const statement = await print(slots)
  if (!statement?.keepsPlan) return null
  const printed = new Set(statement.values.filter(value => value instanceof Slot))
  if (printed.size < shape.values.length) return null
  return {
    name: statement.name ?? '',
    text: detachString(statement.text),
    parameters: statement.values.map(value => (value instanceof Slot ? value : { kind: 'constant', value })),
  }
}

const isInPlace = (value: DesiredCell, index: number): boolean =>
  value instanceof Slot && value.index === index

type NextSlot = () => Slot

/** Replaces all values by slots, numbered in the order of `shapeOf`. */
function withSlots({ document, extras: { assertion, returning } }: ShapedInput): ShapedInput<Slot> {
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
      assertion: assertion && { ...assertion, values: assertion.values.map(next) },
      returning: returning && { ...returning, values: returning.values.map(next) },
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

/** The part of a write that its statement depends on, and the values that fill the statement. */
interface WriteShape<Placeholder = never> {
  readonly key: string
  /** In the same order for all writes of the shape. */
  readonly values: readonly (Stored | Placeholder)[]
}

/** Values of a write that are not in the document. */
export interface ShapedExtras<Placeholder = never> {
  readonly now: string | Placeholder
  readonly assertion: Assertion<Placeholder> | undefined
  readonly returning: ReturningQuery<Placeholder> | undefined
}

/** A document to write, and what its statement asserts and answers. */
export interface ShapedInput<Placeholder = never> {
  readonly document: DesiredDocument<Placeholder>
  readonly extras: ShapedExtras<Placeholder>
}

/** undefined: the statement depends on more than the shape. */
function shapeOf<Placeholder extends Slot = never>({
  document: { type, documentId, versions, at, key },
  extras: { now, assertion, returning },
}: ShapedInput<Placeholder>): WriteShape<Placeholder> | undefined {
  const [version, ...others] = versions
  if (!version || others.length > 0 || version.rows || at !== undefined || key !== undefined) return undefined
  if (assertion?.form === null) return undefined
  const { locale, statuses, publishing } = version
  const values: (Stored | Placeholder)[] = [documentId, now]
  if (publishing?.at !== undefined) values.push(publishing.at)
  const form = shapeOfValues(type, version.values, values)
  if (form === undefined) return undefined
  if (assertion) values.push(...assertion.values)
  if (returning) values.push(...returning.values)
  const moment = `${publishing?.at === undefined ? '' : '@'}${publishing?.keeps ? '=' : ''}`
  return {
    key: `${type.uid} ${locale} ${statuses}${moment}${form} ${assertion?.form} ${returning && numberOf(returning.plan)}`,
    values,
  }
}

let plans = 0

/** A short name of a plan: its text would be hashed with each key. */
const numberOf = memoize((_: object) => ++plans)

function shapeOfValues(holder: Holder, named: Values<Slot>, values: DesiredCell[]): string | undefined {
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
  values: DesiredCell[],
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
  values: DesiredCell[],
): string | undefined {
  let form = '['
  for (const { component, id, values: inner } of items) {
    const each = id === null ? shapeOfValues(component, inner, values) : undefined
    if (each === undefined) return undefined
    form += `${component.uid}${each};`
  }
  return `${form}]`
}

/** undefined for a version that is listed twice: the list keeps one of them, which depends on the keys. */
function shapeOfTargets(targets: readonly LinkTarget<Slot>[], values: DesiredCell[]): string | undefined {
  let form = '('
  const seen = new Set<string>()
  for (const { key, locale, status, inversePlace } of targets) {
    if (key === undefined || inversePlace !== undefined) return undefined
    const version = `${key instanceof Slot ? `$${key.index}` : key} ${status}`
    if (seen.has(version)) return undefined
    seen.add(version)
    values.push(key)
    form += `${locale ?? ''} ${status ?? ''};`
  }
  return `${form})`
}
