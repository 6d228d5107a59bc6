import { groupBy } from '../../base/plain-data.ts'
import type { RelationAttribute } from '../../model/model.ts'
import type { Status } from '../../query/query.ts'
import type {
  DesiredDocument,
  DesiredValue,
  DesiredVersion,
  LinkEdit,
  LinkTarget,
  Placed,
} from '../desired-state.ts'
import { placesOf } from '../rows/list-places.ts'
import { type NewIds, numberOf } from '../rows/write-apply.ts'
import type { Keys } from '../rows/write-keys.ts'
import type { WriteOptions } from '../rows/write-options.ts'
import { sequenceOf, sequencesOf } from '../sql/known-sequences.ts'
import { printAlign } from './align-inverse.ts'
import {
  type InverseChange,
  type InverseEntry,
  printConnect,
  printDisconnect,
  printLock,
  printLockLinked,
  printPlaces,
  printRelease,
} from './inverse-changes.ts'
import { type InverseEnd, type InverseRelation, inverseRelation } from './inverse-sql.ts'

interface Written {
  readonly keys: Keys
  readonly ids: NewIds
  readonly options: WriteOptions
}

type LinkValue = Extract<DesiredValue, { readonly kind: 'links' }>

/** The links to one version of a document. */
interface Part {
  readonly end: InverseEnd
  readonly version: Pick<DesiredVersion, 'statuses'>
  readonly value: LinkValue
  /** No link leads to a document that is being created. */
  readonly isNew: boolean
}

/**
 * Writes the owners' links as the inverse attributes of the documents say (reference/documents.md#12-writing-the-inverse-side): from a type without drafts
 * in the owners' drafts and published rows alike, else in those of the statuses written. Owners' stamps stay.
 */
export async function writeInverses(documents: readonly DesiredDocument[], written: Written): Promise<void> {
  for (const [type, group] of groupBy(documents, each => each.type)) {
    for (const attribute of type.attributes.values()) {
      if (!isInverse(attribute)) continue
      const parts = group.flatMap(document => partsOf(document, attribute, written))
      const relation = inverseRelation(type, attribute, written.options.storage)
      for (const [, same] of groupBy(parts, ({ version }) => version.statuses.join()))
        await writeParts(relation, same, written)
    }
  }
}

export const isInverse = (attribute: { readonly kind: string }): attribute is RelationAttribute =>
  attribute.kind === 'relation' && (attribute as RelationAttribute).side === 'inverse'

/** True if the document has values of inverse relations. */
export const isInverselyLinked = ({ type, versions }: DesiredDocument): boolean =>
  versions.some(({ values }) =>
    [...values].some(([name, { kind }]) => {
      const attribute = kind === 'links' ? type.attributes.get(name) : undefined
      return attribute !== undefined && isInverse(attribute)
    }),
  )

function partsOf(
  { type, documentId, versions }: DesiredDocument,
  { name }: RelationAttribute,
  { keys, ids }: Written,
): readonly Part[] {
  const key = keys(type, documentId)
  return versions.flatMap((version): readonly Part[] => {
    const value = version.values.get(name)
    if (value?.kind !== 'links' || key === undefined) return []
    const end = { key: numberOf(key, ids), locale: version.locale }
    return [{ end, version, value, isNew: typeof key !== 'number' }]
  })
}

async function writeParts(
  relation: InverseRelation,
  parts: readonly Part[],
  written: Written,
): Promise<void> {
  const [first] = parts
  if (!first) return
  const change = { relation, statuses: first.version.statuses }
  const sets = parts.filter(({ value, isNew }) => !value.edit && !isNew)
  const edits = parts.flatMap(({ end, value, isNew }) =>
    value.edit ? [{ end, edit: value.edit }] : isNew ? [{ end, edit: connecting(relation, value) }] : [],
  )
  if (edits.length > 0) await writeEdits(change, edits, written)
  if (sets.length > 0) await writeSets(change, sets, written)
}

/** All of them in order. */
const connecting = ({ attribute }: InverseRelation, { targets }: LinkValue): LinkEdit => ({
  disconnect: [],
  connect: listed(attribute, targets).map(entries => ({ entries, place: null })),
})

/**
 * Links to the draft and the published version of a document share a place where they follow one another, those to its
 * locales do not; of a to-one link the last document counts, in all its locales.
 */
function listed(
  { many }: RelationAttribute,
  targets: readonly LinkTarget[],
): readonly (readonly LinkTarget[])[] {
  const groups: LinkTarget[][] = []
  for (const target of targets) {
    const group = groups.at(-1)
    const last = group?.at(-1)
    if (group && last && isSameDocument(last, target) && !(many && last.locale !== target.locale))
      group.push(target)
    else groups.push([target])
  }
  return many ? groups : groups.slice(-1)
}

const isSameDocument = (one: LinkTarget, other: LinkTarget): boolean =>
  one.key === other.key && one.documentId === other.documentId

interface EndEdit {
  readonly end: InverseEnd
  readonly edit: LinkEdit
}

async function writeEdits(change: InverseChange, edits: readonly EndEdit[], written: Written): Promise<void> {
  const { transaction } = written.options
  const { relation } = change
  const gone = edits.flatMap(({ end, edit }) =>
    entriesOf(change, end, [{ entries: edit.disconnect, place: null }], { ...written, turns: counter() }),
  )
  const numbered = { ...written, turns: counter() }
  const made = edits.flatMap(({ end, edit }) => entriesOf(change, end, edit.connect, numbered))
  const owners = [...new Set([...gone, ...made].map(({ owner }) => owner))]
  if (owners.length > 0) transaction.send(printLock(relation, owners))
  if (gone.length > 0) for (const each of printDisconnect(change, gone)) transaction.send(each)
  await connect(change, made, written)
  for (const { end, edit } of edits)
    if (edit.align && edit.align.owners.length > 0)
      for (const each of printAlign({ ...edit.align, relation, end })) transaction.send(each)
}

/** Links to these documents are taken from all owners that are not named, of those that were locked. */
async function writeSets(change: InverseChange, parts: readonly Part[], written: Written): Promise<void> {
  const { transaction } = written.options
  const { attribute } = change.relation
  const numbered = { ...written, turns: counter() }
  const lists = parts.map(({ end, value }) => {
    const groups = listed(attribute, value.targets).map(entries => ({ entries, place: null }))
    return entriesOf(change, end, groups, numbered)
  })
  const kept = lists.flat()
  const ends = parts.map(({ end }) => end)
  const named = [...new Set(kept.map(({ owner }) => owner))]
  const [locked, places] = await Promise.all([
    transaction.run(printLockLinked(change, ends, named)),
    kept.length === 0 ? undefined : transaction.run(printPlaces(change, kept)),
  ])
  const owners = [...new Set(locked.rows.map(([key]) => Number(key)))]
  if (owners.length > 0)
    for (const each of printRelease(change, ends, { owners, kept })) transaction.send(each)
  const now = new Map(
    places?.rows.flatMap(([turn, place]) => (place === null ? [] : [[Number(turn), Number(place)] as const])),
  )
  await connect(
    change,
    lists.flatMap(entries => placed(entries, now)),
    written,
  )
}

/** Existing links keep their places if their order does not change. */
function placed(
  entries: readonly InverseEntry[],
  now: ReadonlyMap<number, number | undefined>,
): readonly InverseEntry[] {
  const turns = [...new Set(entries.map(({ turn }) => turn))]
  const places = placesOf(turns.map(turn => now.get(turn)))
  const byTurn = new Map(turns.map((turn, index) => [turn, places[index] ?? null]))
  return entries.map(entry => ({ ...entry, place: byTurn.get(entry.turn) ?? null }))
}

async function connect(
  change: InverseChange,
  entries: readonly InverseEntry[],
  { options }: Written,
): Promise<void> {
  if (entries.length === 0) return
  const { link, table } = change.relation
  const numbered = link.kind === 'table' ? link.table : table.name
  const sequence = sequenceOf(await sequencesOf(options), numbered)
  options.transaction.send(printConnect(change, lastOf(change, entries), sequence))
}

/** A to-one link leads to one document: of several that claim it in one write the last has it. */
function lastOf(
  { relation: { link, sharesLocale } }: InverseChange,
  entries: readonly InverseEntry[],
): readonly InverseEntry[] {
  if (link.kind === 'table') return entries
  const last = new Map<string, InverseEntry>()
  for (const entry of entries)
    last.set(
      `${sharesLocale ? entry.locale : ''} ${entry.owner} ${entry.ownerLocale} ${entry.ownerStatus}`,
      entry,
    )
  return last.size === entries.length ? entries : [...last.values()]
}

type Counter = () => number

function counter(): Counter {
  let next = 0
  return () => next++
}

/** The rows that links to an end come from; each once. */
function entriesOf(
  { relation: { attribute, choosesStatus, choosesLocale } }: InverseChange,
  end: InverseEnd,
  groups: readonly Placed[],
  { keys, ids, options, turns }: Written & { readonly turns: Counter },
): readonly InverseEntry[] {
  const entries = new Map<string, InverseEntry>()
  for (const { entries: targets, place } of groups) {
    const turn = turns()
    for (const target of targets) {
      const id = target.key ?? keys(attribute.target, target.documentId)
      if (id === undefined) continue
      const owner = numberOf(id, ids)
      const ownerLocale = choosesLocale ? (target.locale ?? options.defaultLocale) : null
      for (const ownerStatus of statusesOf(choosesStatus, target)) {
        const key = `${owner} ${ownerLocale} ${ownerStatus}`
        if (!entries.has(key)) entries.set(key, { ...end, owner, ownerLocale, ownerStatus, turn, place })
      }
    }
  }
  return [...entries.values()]
}

const BOTH: readonly Status[] = ['published', 'draft']

const statusesOf = (choosesStatus: boolean, { status }: LinkTarget): readonly (Status | null)[] =>
  !choosesStatus ? [null] : status === null ? BOTH : [status]
