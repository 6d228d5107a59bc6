import type { LinkTarget } from '../documents/desired-state.ts'
import type { Diagnostic } from '../faults/diagnostic.ts'
import type { RelationAttribute } from '../model/model.ts'
import type { ContentDocument, ContentVersion } from './content.ts'
import { diagnose } from './content.ts'

/**
 * A link of a two-way relation, declared on either side: from `owner` to `target`, each with a locale if its type is
 * localized.
 */
interface Edge {
  readonly attribute: RelationAttribute
  readonly owner: string
  readonly ownerLocale: string | null
  readonly target: string
  readonly targetLocale: string | null
  readonly from: LinkSource
}

interface LinkSource {
  readonly document: ContentDocument
  readonly version: ContentVersion
  readonly attribute: RelationAttribute
}

export interface MergedLinks {
  readonly documents: readonly ContentDocument[]
  readonly faults: readonly Diagnostic[]
}

/**
 * Merges links of two-way relations, which may be declared on one side or on both: each side gets the links of the other
 * after its own. Contradicting sides are a fault.
 */
export function mergeLinks(documents: readonly ContentDocument[], defaultLocale: string): MergedLinks {
  const edges = documents.flatMap(document => documentEdges(document, defaultLocale))
  const index = indexEdges(edges)
  const merged = documents.map(document => ({
    ...document,
    versions: document.versions.map(version => mergeVersion(document, version, index)),
  }))
  return { documents: merged, faults: conflicts(edges) }
}

function documentEdges(document: ContentDocument, defaultLocale: string): readonly Edge[] {
  return document.versions.flatMap(version =>
    [...version.values].flatMap(([name, value]) => {
      const attribute = document.type.attributes.get(name)
      if (value.kind !== 'links' || attribute?.kind !== 'relation' || attribute.counterpart === null)
        return []
      return value.targets.map(target => toEdge({ document, version, attribute }, target, defaultLocale))
    }),
  )
}

function toEdge(from: LinkSource, { documentId, locale }: LinkTarget, defaultLocale: string): Edge {
  const { document, version, attribute } = from
  const here = version.locale
  const there = attribute.target.localized ? (here ?? locale ?? defaultLocale) : null
  const own = { id: document.name, locale: here }
  const other = { id: documentId, locale: there }
  const [owner, target] = attribute.side === 'owner' ? [own, other] : [other, own]
  const stored = attribute.side === 'owner' ? attribute : (attribute.counterpart ?? attribute)
  return {
    attribute: stored,
    owner: owner.id,
    ownerLocale: owner.locale,
    target: target.id,
    targetLocale: target.locale,
    from,
  }
}

/** Edges by attribute and one end. */
type EdgeIndex = ReadonlyMap<RelationAttribute, ReadonlyMap<string, readonly Edge[]>>

const endKey = (id: string, locale: string | null): string => JSON.stringify([id, locale])

function indexEdges(edges: readonly Edge[]): EdgeIndex {
  const index = new Map<RelationAttribute, Map<string, Edge[]>>()
  const add = (attribute: RelationAttribute | null, key: string, edge: Edge) => {
    if (attribute === null) return
    const ends = index.get(attribute) ?? new Map<string, Edge[]>()
    index.set(attribute, ends)
    const there = ends.get(key)
    if (there) there.push(edge)
    else ends.set(key, [edge])
  }
  for (const edge of edges) {
    if (edge.from.attribute.side === 'inverse')
      add(edge.attribute, endKey(edge.owner, edge.ownerLocale), edge)
    else add(edge.attribute.counterpart, endKey(edge.target, edge.targetLocale), edge)
  }
  return index
}

function mergeVersion(document: ContentDocument, version: ContentVersion, index: EdgeIndex): ContentVersion {
  const values = new Map(version.values)
  for (const [name, value] of version.values) {
    const attribute = document.type.attributes.get(name)
    if (value.kind !== 'links' || attribute?.kind !== 'relation' || !attribute.many) continue
    const others = index.get(attribute)?.get(endKey(document.name, version.locale)) ?? []
    const known = new Set(value.targets.map(({ documentId, locale }) => endKey(documentId, locale)))
    const added = others
      .map(edge => otherEnd(edge, attribute))
      .filter(({ documentId, locale }) => !known.has(endKey(documentId, locale)))
    if (added.length > 0) values.set(name, { kind: 'links', targets: [...value.targets, ...added] })
  }
  return { ...version, values }
}

/** The link target as seen from this side. It has a locale only if this side is not localized. */
function otherEnd(edge: Edge, attribute: RelationAttribute): LinkTarget {
  const isOwner = attribute.side === 'owner'
  const [id, locale, own] = isOwner
    ? [edge.target, edge.targetLocale, edge.ownerLocale]
    : [edge.owner, edge.ownerLocale, edge.targetLocale]
  return { documentId: id, locale: own === null ? locale : null, status: null }
}

/** Reports two targets for an owner that allows one, and two owners for the target of a one-to-one relation. */
function conflicts(edges: readonly Edge[]): readonly Diagnostic[] {
  const taken = new Map<string, Edge>()
  return edges.flatMap(edge => {
    const { attribute } = edge
    const own = `${endKey(edge.owner, edge.ownerLocale)} of ${attribute.name} ${attribute.counterpart?.target.uid}`
    const exclusive =
      attribute.relation === 'oneToOne'
        ? [
            `to ${endKey(edge.target, edge.targetLocale)} in ${edge.ownerLocale} by ${attribute.name} ${attribute.target.uid}`,
          ]
        : []
    const keys = [...(attribute.many ? [] : [own]), ...exclusive]
    const other = keys.flatMap(key => taken.get(key) ?? []).find(each => !isSame(each, edge))
    for (const key of keys) if (!taken.has(key)) taken.set(key, edge)
    return other === undefined ? [] : [conflict(edge, other)]
  })
}

const isSame = (a: Edge, b: Edge): boolean =>
  a.owner === b.owner &&
  a.target === b.target &&
  a.ownerLocale === b.ownerLocale &&
  a.targetLocale === b.targetLocale

function conflict(edge: Edge, other: Edge): Diagnostic {
  const spot = ({ document, version, attribute }: LinkSource) => ({
    ...document,
    path: [...version.path, attribute.name],
  })
  const at = spot(other.from)
  const message = `\`${edge.owner}\` and \`${edge.target}\` cannot be linked by \`${edge.attribute.name}\`: one of them is linked already`
  return diagnose('link-conflict', message, spot(edge.from), {
    place: at.source.place(at.path),
    message: 'links it',
  })
}
