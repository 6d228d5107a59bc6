import { fault, RequestFault } from '../../faults/fault.ts'
import type { MediaAttribute, RelationAttribute } from '../../model/model.ts'
import type { LinkChange, LinkConnection, LinkPosition, TargetRef } from '../../query/command.ts'
import type { Status } from '../../query/query.ts'
import type { LinkTarget } from '../desired-state.ts'
import { entryKey, LinkOrder, type LinkPlace, type Run } from '../rows/list-places.ts'
import { type FoundTarget, type FoundTargets, type LinkSource, placeRef } from './link-targets.ts'

export interface ChangeOptions {
  readonly source: LinkSource
  readonly found: FoundTargets
}

type Linked = MediaAttribute | RelationAttribute

/** The change of a list of links, as far as it is known without the list. */
export type LinkOperation =
  /** Exactly these. */
  | { readonly kind: 'set'; readonly targets: readonly LinkTarget[] }
  | {
      readonly kind: 'edit'
      readonly disconnect: readonly LinkTarget[]
      readonly connect: readonly Connecting[]
      readonly neighbours: LinkNeighbours
    }

/**
 * Documents that positions name and that the body has not connected before. Each with the links to it that are put next to its
 * others, such as that to another locale.
 */
export type LinkNeighbours = ReadonlyMap<number, readonly LinkTarget[]>

interface Connecting {
  readonly entries: readonly LinkTarget[]
  readonly place: LinkPlace
  /** The answer where the document that `place` names is not in the list. */
  readonly nowhere: () => RequestFault
}

/** An entry is a (document, locale, status) as far as links name these (reference/documents.md#10-connecting). */
export function operationOf(attribute: Linked, change: LinkChange, options: ChangeOptions): LinkOperation {
  if (change.kind === 'set')
    return {
      kind: 'set',
      targets: distinct(change.targets.flatMap(ref => entriesOf(attribute, ref, options))),
    }
  const connect = connections(attribute, change.connect, options)
  const last = connect.at(-1)?.entries[0]
  // A to-one link is replaced as a whole: what is connected for drafts alone leaves nothing to the published version.
  if (!attribute.many && last) {
    const targets = connect.flatMap(({ entries }) => entries).filter(({ key }) => key === last.key)
    return { kind: 'set', targets }
  }
  const disconnect = distinct(change.disconnect.flatMap(ref => entriesOf(attribute, ref, options)))
  return { kind: 'edit', disconnect, connect, neighbours: neighboursOf(connect) }
}

/** The list that an operation makes of one that is known as a whole. */
export function changeLinks(
  attribute: Linked,
  change: LinkChange,
  current: readonly LinkTarget[],
  options: ChangeOptions,
): readonly LinkTarget[] {
  const operation = operationOf(attribute, change, options)
  if (operation.kind === 'set') return operation.targets
  const order = LinkOrder.ofWhole(current)
  arrange(order, operation.connect)
  const connected = new Set(operation.connect.flatMap(({ entries }) => entries.map(entryKey)))
  const gone = new Set(operation.disconnect.map(entryKey).filter(key => !connected.has(key)))
  return gone.size === 0 ? order.entries() : order.entries().filter(entry => !gone.has(entryKey(entry)))
}

/** The order of new links in a list that is not loaded; `neighbours`: those that the list has. */
export function arrangeAmong(connect: readonly Connecting[], neighbours: LinkNeighbours): readonly Run[] {
  const order = LinkOrder.ofNeighbours(neighbours)
  arrange(order, connect)
  return order.runs()
}

function arrange(order: LinkOrder, connect: readonly Connecting[]): void {
  for (const { entries, place, nowhere } of connect) if (!order.put(entries, place)) throw nowhere()
}

function connections(
  attribute: Linked,
  connect: readonly LinkConnection[],
  options: ChangeOptions,
): readonly Connecting[] {
  const seen = new Set<string>()
  return connect.map(connection => {
    const entries = entriesOf(attribute, connection, options)
    const keys = entries.map(entryKey)
    if (keys.some(key => seen.has(key))) throw connectedTwice(options.found(attribute.target, connection))
    for (const key of keys) seen.add(key)
    return { entries, ...placeOf(attribute, connection, options) }
  })
}

function placeOf(
  { target }: Linked,
  connection: LinkConnection,
  { found }: ChangeOptions,
): Pick<Connecting, 'place' | 'nowhere'> {
  const { position } = connection
  if (!('by' in position)) return { place: position, nowhere: unexpected }
  const anchor = found(target, placeRef(position.by))
  return {
    place: { at: position.at, key: anchor.key },
    nowhere: () => notConnected(found(target, connection), position, anchor),
  }
}

const unexpected = (): RequestFault => {
  throw new TypeError('an end of a list is always there')
}

function neighboursOf(connect: readonly Connecting[]): LinkNeighbours {
  const connected = new Set<number | undefined>()
  const neighbours = new Map<number, readonly LinkTarget[]>()
  for (const { entries, place } of connect) {
    if ('key' in place && !connected.has(place.key))
      neighbours.set(
        place.key,
        entries.filter(({ key }) => key === place.key),
      )
    for (const { key } of entries) connected.add(key)
  }
  return neighbours
}

export function distinct(entries: readonly LinkTarget[]): readonly LinkTarget[] {
  const byKey = new Map<string, LinkTarget>()
  for (const entry of entries) if (!byKey.has(entryKey(entry))) byKey.set(entryKey(entry), entry)
  return [...byKey.values()]
}

function entriesOf(
  attribute: Linked,
  ref: TargetRef,
  { source, found }: ChangeOptions,
): readonly LinkTarget[] {
  const { key, documentId, locale } = found(attribute.target, ref)
  const named = attribute.target.draftAndPublish && !source.type.draftAndPublish
  const statuses: readonly (Status | null)[] = named
    ? ref.status === null
      ? ['published', 'draft']
      : [ref.status]
    : [null]
  return statuses.map(status => ({ key, documentId, locale, status }))
}

const connectedTwice = ({ id }: FoundTarget): RequestFault =>
  new RequestFault(
    fault(
      'validation',
      `The relation with id ${id} is already connected. You cannot connect the same relation twice.`,
    ),
  )

const notConnected = ({ id }: FoundTarget, { at }: LinkPosition, anchor: FoundTarget): RequestFault =>
  new RequestFault(
    fault(
      'validation',
      `There was a problem connecting relation with id ${id} at position ${JSON.stringify({ [at]: anchor.id })}. The relation with id ${anchor.id} needs to be connected first.`,
    ),
  )
