import type { Result } from '../../../core/base/result.ts'
import type { Fault } from '../../../core/faults/fault.ts'
import type { Row, Where, Writing } from '../../documents/writing.ts'
import type { Chance } from './random.ts'
import { isToMany, type RandomRelation } from './random-relations.ts'
import { type Ruled, type RuledAttribute, type RuledPart, type RuledType, ruledValue } from './rules.ts'

/** documentIds by the id of their type. */
export type Written = Map<string, string[]>

const valuesOf = (attributes: readonly RuledAttribute[], random: Chance): Record<string, unknown> =>
  Object.fromEntries(
    attributes.flatMap(each =>
      each.required || !random.onceIn(3) ? [[each.name, ruledValue(each, random)] as const] : [],
    ),
  )

function heldBy({ holding }: RuledType, parts: readonly RuledPart[], random: Chance): object {
  const [first] = parts
  if (holding === 'none' || first === undefined) return {}
  const item = () => valuesOf(first.attributes, random)
  const some = <Value>(make: () => Value) => Array.from({ length: random.below(3) }, make)
  if (holding === 'single') return { held: item() }
  if (holding === 'list') return { held: some(item) }
  const block = () => {
    const part = random.one(parts)
    return {
      __component: part.key,
      ...valuesOf(part.attributes, random),
      ...(part.nested && { inner: some(item) }),
    }
  }
  return { held: some(block) }
}

/** Where documents are written, and what was refused without a rule that explains it. */
interface RuledWrites {
  readonly writing: Writing
  readonly project: Ruled
  readonly written: Written
  readonly random: Chance
  readonly faults: string[]
}

/** Writes documents as callers do, versions and links at random. Answers refusals that no rule explains. */
export async function writeRuled(
  writing: Writing,
  project: Ruled,
  written: Written,
  random: Chance,
): Promise<readonly string[]> {
  const writes: RuledWrites = { writing, project, written, random, faults: [] }
  for (const type of project.types) {
    for (let count = random.below(3); count > 0; count -= 1) await createRuled(type, writes)
    await changeRuled(type, writes)
  }
  for (const relation of project.relations) await linkRuled(relation, writes)
  return writes.faults
}

async function attempt<Value>(
  words: string,
  { faults }: RuledWrites,
  work: () => Promise<Result<Value, Fault>>,
): Promise<Value | null> {
  try {
    const result = await work()
    if (result.ok) return result.value
    const unexplained = result.reasons.filter(({ code }) => code !== 'validation' && code !== 'notFound')
    faults.push(...unexplained.map(({ message }) => `${words}: ${message}`))
  } catch (error) {
    faults.push(`${words}: ${String(error)}`)
  }
  return null
}

const statusFor = ({ drafts }: RuledType, random: Chance): Where => ({
  status: drafts ? random.one(['draft', 'published'] as const) : 'published',
})

async function createRuled(type: RuledType, writes: RuledWrites): Promise<void> {
  const { writing, project, written, random } = writes
  const values = () => ({ ...valuesOf(type.attributes, random), ...heldBy(type, project.parts, random) })
  const status = statusFor(type, random)
  const made = await attempt(`create ${type.key}`, writes, () =>
    writing.tryCreate(type.key, values(), status),
  )
  if (made === null) return
  const { documentId } = made
  written.set(type.id, [...(written.get(type.id) ?? []), documentId])
  if (!type.localized || random.onceIn(2)) return
  const french = { ...status, locale: 'fr' }
  await attempt(`translate ${type.key}`, writes, () =>
    writing.tryUpdate(type.key, documentId, values(), french),
  )
}

async function changeRuled(type: RuledType, writes: RuledWrites): Promise<void> {
  const { writing, written, random } = writes
  const ids = written.get(type.id) ?? []
  if (ids.length === 0) return
  const attribute = random.one(type.attributes)
  const values = { [attribute.name]: ruledValue(attribute, random) }
  await attempt(`update ${type.key}`, writes, () =>
    writing.tryUpdate(type.key, random.one(ids), values, statusFor(type, random)),
  )
  if (!type.drafts) return
  const change = random.one(['publish', 'unpublish', 'discardDraft'] as const)
  await attempt(`${change} ${type.key}`, writes, () => writing.tryChange(change, type.key, random.one(ids)))
}

async function linkRuled(relation: RandomRelation, writes: RuledWrites): Promise<void> {
  const { name, from, to } = relation
  const { writing, project, written, random } = writes
  const [owner, other] = [from, to].map(key => project.types.find(each => each.key === key))
  const [ids, targets] = [owner, other].map(type => written.get(type?.id ?? '') ?? [])
  if (!owner || !ids || !targets || ids.length === 0) return
  const there: string[] = []
  for (const target of targets.filter(() => random.onceIn(2)))
    if (await writing.find(to, target, { status: 'draft' })) there.push(target)
  const values = { [name]: isToMany(relation) ? there : (there[0] ?? null) }
  await attempt(`link ${from}.${name}`, writes, () =>
    writing.tryUpdate(from, random.one(ids), values, statusFor(owner, random)),
  )
}

/** All that documents show, by type, document, status, locale and attribute. */
export type Seen = ReadonlyMap<string, string>

export async function readRuled(writing: Writing, project: Ruled, written: Written): Promise<Seen> {
  const seen = new Map<string, string>()
  for (const { type, documentId, ...where } of project.types.flatMap(each => versionsOf(each, written))) {
    const row = await writing.find(type.key, documentId, where)
    const place = [type.id, documentId, where.status, where.locale].join(' ')
    if (row) addRow(seen, { place, row }, type, project)
  }
  return seen
}

const versionsOf = (type: RuledType, written: Written) =>
  (written.get(type.id) ?? []).flatMap(documentId =>
    (type.drafts ? (['draft', 'published'] as const) : (['published'] as const)).flatMap(status =>
      (type.localized ? ['en', 'fr'] : ['en']).map(locale => ({ type, documentId, status, locale })),
    ),
  )

interface PlacedRow {
  readonly place: string
  readonly row: Row
}

function addRow(
  seen: Map<string, string>,
  { place, row }: PlacedRow,
  type: RuledType,
  { parts, relations }: Ruled,
): void {
  addValues(seen, { place, row }, type.attributes)
  const [first] = parts
  for (const [index, item] of listOf(row.held).entries()) {
    const part = parts.find(({ key }) => key === (item.__component ?? first?.key))
    if (!part) continue
    const at = `${place} held ${index} ${part.id}`
    addValues(seen, { place: at, row: item }, part.attributes)
    for (const [inside, each] of listOf(item.inner).entries())
      addValues(seen, { place: `${at} ${inside}`, row: each }, first?.attributes ?? [])
  }
  for (const { name } of relations.filter(({ from }) => from === type.key))
    for (const target of listOf(row[name])) seen.set(`${place} ${name} ${target.documentId}`, 'linked')
}

const listOf = (value: unknown): readonly Row[] =>
  Array.isArray(value) ? value : value ? [value as Row] : []

function addValues(
  seen: Map<string, string>,
  { place, row }: PlacedRow,
  attributes: readonly RuledAttribute[],
): void {
  seen.set(place, 'there')
  for (const { id, name, values } of attributes) {
    const value = row[name]
    if (value === null || value === undefined) continue
    seen.set(`${place} ${id}`, comparable(values.find(each => each.value === value)?.id ?? value))
  }
}

/** The same for values that say the same, whatever their types. */
function comparable(value: unknown): string {
  const text = String(value)
    .replace(/^true$/, '1')
    .replace(/^false$/, '0')
  return /^-?\d+(\.\d+)?$/.test(text) && !/^0\d/.test(text) ? String(Number(text)) : text
}

/** What was seen before and is gone or changed. If drafts are turned off, the single version counts as both. */
export const lostOf = (before: Seen, after: Seen): readonly string[] =>
  [...before].flatMap(([place, value]) => {
    const now = after.get(place) ?? after.get(place.replace(' draft ', ' published '))
    return now === value ? [] : [`${place}: ${value} is ${now}`]
  })
