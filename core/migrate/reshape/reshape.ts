import type {
  AttributeShape,
  ComponentsShape,
  LinkShape,
  LinkStorage,
  SchemaShape,
} from '../../model/storage.ts'
import type { TablePair } from '../schema/pair-tables.ts'

/** A content-type or component whose rows are there, with what they meant and what they are to mean. */
export interface TableState {
  readonly pair: TablePair
  readonly before: SchemaShape
  readonly after: SchemaShape
}

/** A link that takes over what was stored. */
export interface LinkMove {
  readonly owner: TableState
  readonly target: TableState
  readonly link: LinkShape
  readonly source: StoredLinks
}

/** The table and shape in which the links of a move were stored. */
export interface StoredLinks {
  readonly holding: TableState
  readonly link: LinkShape
  /** Stored by what is now the target. */
  readonly swapped: boolean
}

/** The same attribute before and after; before null: it is new. */
export interface ComponentsMove {
  readonly owner: TableState
  readonly before: ComponentsShape | null
  readonly after: ComponentsShape
}

/** The combined reshape of all tables of a project. */
export interface Reshape {
  readonly holdings: readonly TableState[]
  /** Content-types whose rows become others: drafts or locales come or go. */
  readonly versions: readonly TableState[]
  /** Links to rewrite. */
  readonly links: readonly LinkMove[]
  /** Links that lead to documents of another content-type than those stored under their name. */
  readonly retargeted: readonly {
    readonly owner: TableState
    readonly link: LinkShape
    readonly former: LinkShape
  }[]
  readonly parts: readonly ComponentsMove[]
  /** Uids of components whose rows become others. */
  readonly components: ReadonlySet<string>
}

/** Which rows, links and components are to mean something else than they did. Asks nothing. */
export function findReshape(pairs: readonly TablePair[]): Reshape {
  const holdings = pairs.flatMap(toHolding)
  const parts = holdings.flatMap(owner =>
    ofKind(owner.after.attributes, 'parts').map(one => partsMove(owner, one)),
  )
  const components = reach(parts)
  const links = holdings.flatMap(owner =>
    ofKind(owner.after.attributes, 'link').flatMap(link => toMove(owner, link, holdings)),
  )
  return {
    holdings,
    versions: holdings.filter(changesVersions),
    links: links.filter(move => isTouched(move, components)),
    retargeted: holdings.flatMap(owner => findRetargetedLinks(owner, holdings)),
    parts,
    components,
  }
}

function toHolding(pair: TablePair): readonly TableState[] {
  const { shape: before } = pair.owned
  const { shape: after } = pair.desired
  return before && after ? [{ pair, before, after }] : []
}

const ofKind = <Kind extends AttributeShape['kind']>(attributes: readonly AttributeShape[], kind: Kind) =>
  attributes.filter((one): one is Extract<AttributeShape, { kind: Kind }> => one.kind === kind)

/** The attribute as it was: under its name, or under the one that it had. */
function formerOf<Kind extends AttributeShape['kind']>(
  { before }: TableState,
  kind: Kind,
  { name, renamedFrom }: { readonly name: string; readonly renamedFrom?: string },
) {
  const former = ofKind(before.attributes, kind)
  return former.find(one => one.name === name) ?? former.find(one => one.name === renamedFrom)
}

const partsMove = (owner: TableState, after: ComponentsShape): ComponentsMove => ({
  owner,
  before: formerOf(owner, 'parts', after) ?? null,
  after,
})

const changesParts = ({ owner, before, after }: ComponentsMove): boolean =>
  !isComponent(owner) && before !== null && (changesVersions(owner) || before.localized !== after.localized)

/** The components of what changes, and all that are nested in them. */
function reach(parts: readonly ComponentsMove[]): ReadonlySet<string> {
  const reached = new Set(parts.filter(changesParts).flatMap(({ after }) => after.components))
  for (const uid of reached) {
    const nested = parts.filter(({ owner }) => owner.after.uid === uid)
    for (const { after } of nested) for (const component of after.components) reached.add(component)
  }
  return reached
}

const holdingOf = (uid: string, holdings: readonly TableState[], time: 'before' | 'after') =>
  holdings.find(one => one[time].uid === uid)

/** True if links to the one type lead to the other one now, whatever its name. */
const leadsTo = (former: LinkShape, target: TableState): boolean => former.target === target.before.uid

function toMove(owner: TableState, link: LinkShape, holdings: readonly TableState[]): readonly LinkMove[] {
  const target = holdingOf(link.target, holdings, 'after')
  if (target === undefined) return []
  const source = ownSource(owner, link, target) ?? otherSource(owner, link, target)
  return source === undefined ? [] : [{ owner, target, link, source }]
}

function ownSource(owner: TableState, link: LinkShape, target: TableState): StoredLinks | undefined {
  const former = formerOf(owner, 'link', link)
  return former && leadsTo(former, target) ? { holding: owner, link: former, swapped: false } : undefined
}

/** The other side may have stored it before: as the attribute that is its counterpart now, or was. */
function otherSource(owner: TableState, link: LinkShape, target: TableState): StoredLinks | undefined {
  const inverse = formerOf(owner, 'inverse', link)
  const counterpart = inverse?.target === target.before.uid ? { name: inverse.counterpart } : link.counterpart
  const former = counterpart ? formerOf(target, 'link', counterpart) : undefined
  return former && leadsTo(former, owner) ? { holding: target, link: former, swapped: true } : undefined
}

function findRetargetedLinks(owner: TableState, holdings: readonly TableState[]): Reshape['retargeted'] {
  return ofKind(owner.after.attributes, 'link').flatMap(link => {
    const former = formerOf(owner, 'link', link)
    const target = holdingOf(link.target, holdings, 'after')
    if (former === undefined || former.link.kind !== link.link.kind) return []
    const same = target ? leadsTo(former, target) : former.target === link.target
    return same ? [] : [{ owner, link, former }]
  })
}

function isTouched({ owner, target, link, source }: LinkMove, components: ReadonlySet<string>): boolean {
  return (
    source.swapped ||
    formOf(source.link.link) !== formOf(link.link) ||
    (isComponent(owner) ? components.has(owner.after.uid) : changesVersions(owner)) ||
    (owner.after.locale !== null && source.link.localized !== link.localized) ||
    losesDocuments(target)
  )
}

/** How a link is stored, whatever the names. */
const formOf = (link: LinkStorage): string =>
  link.kind === 'column'
    ? JSON.stringify([link.draftKey !== null, link.locale !== null, link.inversePosition !== null])
    : JSON.stringify([link.owner, link.targetStatus, link.targetLocale, link.inversePosition])

/** The column that names a document's versions. */
export const versionKeyOf = ({ drafts, locale }: SchemaShape): 'id' | 'document_key' =>
  drafts || locale !== null ? 'document_key' : 'id'

export const gainsDrafts = ({ before, after }: TableState): boolean => !before.drafts && after.drafts
export const losesDrafts = ({ before, after }: TableState): boolean => before.drafts && !after.drafts
export const gainsLocales = ({ before, after }: TableState): boolean =>
  before.locale === null && after.locale !== null
export const losesLocales = ({ before, after }: TableState): boolean =>
  before.locale !== null && after.locale === null

/** True if versions that are deleted may take whole documents with them. */
export const losesDocuments = (holding: TableState): boolean => losesDrafts(holding) || losesLocales(holding)

export const changesVersions = ({ before, after }: TableState): boolean =>
  before.drafts !== after.drafts || (before.locale === null) !== (after.locale === null)

export const isComponent = ({ after }: TableState): boolean => after.holder === 'component'
