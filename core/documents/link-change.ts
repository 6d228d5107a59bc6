import { fault, RequestFault } from '../faults/fault.ts'
import type { MediaAttribute, RelationAttribute } from '../model/model.ts'
import type { Connection, LinkChange, Position, TargetRef } from '../query/command.ts'
import type { Status } from '../query/query.ts'
import { type FoundTarget, type FoundTargets, type LinkSource, placeRef } from './link-targets.ts'
import type { LinkTarget } from './written.ts'

export interface ChangeTerms {
  readonly source: LinkSource
  readonly found: FoundTargets
}

type Linked = MediaAttribute | RelationAttribute

/** A list of links as it becomes: an entry a (document, locale, status) as far as links name these (documents.md 10). */
export function changeLinks(
  attribute: Linked,
  change: LinkChange,
  current: readonly LinkTarget[],
  terms: ChangeTerms,
): readonly LinkTarget[] {
  if (change.kind === 'set') return merged(change.targets.flatMap(ref => entriesOf(attribute, ref, terms)))
  const gone = change.disconnect.flatMap(ref => entriesOf(attribute, ref, terms))
  // Those that go keep their places until the end: a position may name one of them.
  let list: readonly Listed[] = current.map(entry => ({
    entry,
    gone: gone.some(each => isSame(each, entry)),
  }))
  const connected: LinkTarget[] = []
  for (const connection of change.connect) {
    const entries = entriesOf(attribute, connection, terms)
    refuseTwice(attribute, connection, entries, connected, terms)
    connected.push(...entries)
    list = connect(list, entries, { attribute, connection, terms })
  }
  const last = connected.at(-1)
  // A single place is taken whole: one that is connected for drafts alone leaves nothing to the published.
  if (!attribute.many && last) return connected.filter(({ key }) => key === last.key)
  return list.filter(each => !each.gone).map(({ entry }) => entry)
}

interface Listed {
  readonly entry: LinkTarget
  readonly gone: boolean
}

const isSame = (a: LinkTarget, b: LinkTarget): boolean =>
  a.key === b.key && a.locale === b.locale && a.status === b.status

const merged = (entries: readonly LinkTarget[]): readonly LinkTarget[] =>
  entries.filter((entry, index) => entries.findIndex(each => isSame(each, entry)) === index)

function entriesOf(attribute: Linked, ref: TargetRef, { source, found }: ChangeTerms): readonly LinkTarget[] {
  const { key, documentId, locale } = found(attribute.target, ref)
  const named = attribute.target.draftAndPublish && !source.type.draftAndPublish
  const statuses: readonly (Status | null)[] = named
    ? ref.status === null
      ? ['published', 'draft']
      : [ref.status]
    : [null]
  return statuses.map(status => ({ key, documentId, locale, status }))
}

function refuseTwice(
  attribute: Linked,
  ref: TargetRef,
  entries: readonly LinkTarget[],
  connected: readonly LinkTarget[],
  { found }: ChangeTerms,
): void {
  if (!entries.some(entry => connected.some(each => isSame(each, entry)))) return
  const { id } = found(attribute.target, ref)
  const message = `The relation with id ${id} is already connected. You cannot connect the same relation twice.`
  throw new RequestFault(fault('validation', message))
}

interface Connecting {
  readonly attribute: Linked
  readonly connection: Connection
  readonly terms: ChangeTerms
}

function connect(
  list: readonly Listed[],
  entries: readonly LinkTarget[],
  connecting: Connecting,
): readonly Listed[] {
  const others = list.filter(({ entry }) => !entries.some(each => isSame(each, entry)))
  const at = indexFor(others, connecting)
  return [...others.slice(0, at), ...entries.map(entry => ({ entry, gone: false })), ...others.slice(at)]
}

function indexFor(list: readonly Listed[], { attribute, connection, terms }: Connecting): number {
  const { position } = connection
  if (!('documentId' in position)) return position.at === 'start' ? 0 : list.length
  const beside = terms.found(attribute.target, placeRef(position.documentId))
  const isBeside = ({ entry }: Listed) => entry.key === beside.key
  const index = position.at === 'before' ? list.findIndex(isBeside) : list.findLastIndex(isBeside)
  if (index === -1)
    throw new RequestFault(nowhere(terms.found(attribute.target, connection), position, beside))
  return position.at === 'before' ? index : index + 1
}

const nowhere = ({ id }: FoundTarget, { at }: Position, beside: FoundTarget) =>
  fault(
    'validation',
    `There was a problem connecting relation with id ${id} at position ${JSON.stringify({ [at]: beside.id })}. The relation with id ${beside.id} needs to be connected first.`,
  )
