import { type LiteralMapping, LocatedMapping, textAt } from '../read/literal-value.ts'
import type { StrapiFacts } from '../read/read-facts.ts'
import type { StrapiHolder, StrapiProject } from '../read/strapi-project.ts'
import { namesOf } from '../strapi-names.ts'

const USER = 'plugin::users-permissions.user'

type Key = 'inversedBy' | 'mappedBy'

const OTHER: Readonly<Record<Key, Key>> = { inversedBy: 'mappedBy', mappedBy: 'inversedBy' }

const OPPOSITE: Readonly<Record<string, string>> = {
  oneToOne: 'oneToOne',
  oneToMany: 'manyToOne',
  manyToOne: 'oneToMany',
  manyToMany: 'manyToMany',
}

/** The side of a relation between one and many that owns the link. */
const ONLY_KEY: Readonly<Record<string, Key>> = { oneToMany: 'mappedBy', manyToOne: 'inversedBy' }

interface Side {
  readonly uid: string
  readonly name: string
}

/** The relations of all content-types, under repair. */
interface Pairing {
  readonly attributes: ReadonlyMap<string, Map<string, LiteralMapping>>
  readonly repairs: Map<string, Map<string, string>>
  /** True if Strapi's database has a table for the links of this side alone. */
  readonly ownsLinks: (side: Side) => boolean
}

/** The key that holds the text of a repair, until the attribute is converted. */
export const REPAIRED = 'plinth:repaired'

/**
 * Both sides of a relation name each other, with one owner. Where one side does not name the other, or names an attribute
 * that is not there, the key is added, corrected or removed, with a remark.
 */
export function pairRelations(project: StrapiProject, facts: StrapiFacts | null): StrapiProject {
  const { contentTypes, user } = project
  const holders: readonly StrapiHolder[] = [...contentTypes, ...(user === null ? [] : [user])]
  const pairing: Pairing = {
    attributes: new Map(holders.map(({ uid, attributes }) => [uid, new Map(attributes)])),
    repairs: new Map(),
    ownsLinks: linkTables(project, holders, facts),
  }
  for (const { uid, attributes } of holders)
    for (const name of attributes.keys()) repairSide({ uid, name }, pairing)
  const repaired = <Holder extends StrapiHolder>(holder: Holder): Holder => ({
    ...holder,
    attributes: new Map(
      [...(pairing.attributes.get(holder.uid) ?? [])].map(([name, declared]) => [
        name,
        withRepair(declared, pairing.repairs.get(holder.uid)?.get(name)),
      ]),
    ),
  })
  return { ...project, contentTypes: contentTypes.map(repaired), user: user && repaired(user) }
}

function withRepair(declared: LiteralMapping, text: string | undefined): LiteralMapping {
  return text === undefined ? declared : changed(declared, { [REPAIRED]: text })
}

function linkTables(
  { version }: StrapiProject,
  holders: readonly StrapiHolder[],
  facts: StrapiFacts | null,
): Pairing['ownsLinks'] {
  const names = namesOf(version)
  const tables = new Map(holders.map(({ uid, collectionName }) => [uid, names.table(collectionName)]))
  return ({ uid, name }) => facts?.tables.has(names.links(tables.get(uid) ?? '', name)) ?? false
}

function repairSide(side: Side, pairing: Pairing): void {
  const declared = relationAt(side, pairing)
  if (declared === undefined) return
  const { key: written, named } = keyOf(declared)
  if (named === undefined) return
  const relation = textAt(declared, 'relation') ?? ''
  const key = ONLY_KEY[relation] ?? written
  const other = partnerOf(side, named, pairing)
  if (other === undefined) {
    const why = `\`${written}: ${named}\` leads to no relation back, so it is one-way`
    set(side, { inversedBy: undefined, mappedBy: undefined }, why, pairing)
    return
  }
  connect({ side, key, written }, other, pairing)
}

interface KeyedSide {
  readonly side: Side
  readonly key: Key
  /** The key in Strapi's schema. */
  readonly written: Key
}

function connect({ side, key, written }: KeyedSide, other: Side, pairing: Pairing): void {
  const back = relationAt(other, pairing)
  const declared = relationAt(side, pairing)
  if (declared === undefined || back === undefined) return
  const { key: backKey, named: backNamed } = keyOf(back)
  const bothOwn =
    backNamed !== undefined && backKey === key && ONLY_KEY[textAt(declared, 'relation') ?? ''] === undefined
  const [owner, inverse] = key === 'inversedBy' ? [side, other] : [other, side]
  if ((bothOwn && key === 'inversedBy') || keepsOwnLinks(owner, inverse, pairing)) {
    const why = 'both sides have links of their own in Strapi, so each is one-way'
    for (const each of [side, other]) set(each, { inversedBy: undefined, mappedBy: undefined }, why, pairing)
    return
  }
  const isNamed = textAt(declared, key) === other.name && textAt(declared, OTHER[key]) === undefined
  if (!isNamed)
    set(side, { [key]: other.name, [OTHER[key]]: undefined }, saysIn(key, written, other.name), pairing)
  const needed = OTHER[key]
  if (textAt(back, needed) !== side.name || textAt(back, key) !== undefined)
    set(
      other,
      { [needed]: side.name, [key]: undefined },
      `\`${needed}: ${side.name}\` is added: \`${side.name}\` names it`,
      pairing,
    )
  matchKinds(owner, inverse, pairing)
}

const saysIn = (key: Key, written: Key, name: string): string =>
  `\`${key}: ${name}\` replaces what \`${written}\` says in Strapi`

/** Two tables of links have different contents. */
function keepsOwnLinks(owner: Side, inverse: Side, pairing: Pairing): boolean {
  const isMapped = textAt(relationAt(inverse, pairing), 'mappedBy') !== undefined
  return !isMapped && pairing.ownsLinks(owner) && pairing.ownsLinks(inverse)
}

function matchKinds(owner: Side, inverse: Side, pairing: Pairing): void {
  const kind = OPPOSITE[textAt(relationAt(owner, pairing), 'relation') ?? '']
  const found = textAt(relationAt(inverse, pairing), 'relation')
  if (kind !== undefined && found !== kind)
    set(
      inverse,
      { relation: kind },
      `\`relation: ${kind}\` replaces \`${found}\`: the other side decides`,
      pairing,
    )
}

/** The relation that is meant: the named one, else the only one that leads back and has no other partner. */
function partnerOf(side: Side, named: string, pairing: Pairing): Side | undefined {
  const uid = textAt(relationAt(side, pairing), 'target') ?? ''
  const all = [...(pairing.attributes.get(uid)?.keys() ?? [])].map(name => ({ uid, name }))
  const fitting = all.filter(other => isFree(other, side, pairing))
  const exact = fitting.find(({ name }) => name === named)
  if (exact !== undefined) return exact
  const naming = fitting.filter(other => keyOf(relationAt(other, pairing)).named === side.name)
  if (naming.length > 0) return naming.length === 1 ? naming[0] : undefined
  const kind = OPPOSITE[textAt(relationAt(side, pairing), 'relation') ?? '']
  const alike = fitting.filter(
    other =>
      keyOf(relationAt(other, pairing)).named !== undefined &&
      textAt(relationAt(other, pairing), 'relation') === kind,
  )
  return alike.length === 1 ? alike[0] : undefined
}

/** It leads back, and no other relation is its partner. */
function isFree(other: Side, side: Side, pairing: Pairing): boolean {
  if (other.uid === side.uid && other.name === side.name) return false
  const back = relationAt(other, pairing)
  if (back === undefined || textAt(back, 'target') !== side.uid) return false
  const { named } = keyOf(back)
  if (named === undefined || named === side.name) return true
  const third = relationAt({ uid: side.uid, name: named }, pairing)
  return third === undefined || textAt(third, 'target') !== other.uid || keyOf(third).named !== other.name
}

function keyOf(declared: LiteralMapping | undefined): {
  readonly key: Key
  readonly named: string | undefined
} {
  const owned = textAt(declared, 'inversedBy')
  const mapped = textAt(declared, 'mappedBy')
  return owned === undefined ? { key: 'mappedBy', named: mapped } : { key: 'inversedBy', named: owned }
}

/** The relation to a content-type or to users. */
function relationAt({ uid, name }: Side, { attributes }: Pairing): LiteralMapping | undefined {
  const declared = attributes.get(uid)?.get(name)
  const isRelation =
    textAt(declared, 'type') === 'relation' && OPPOSITE[textAt(declared, 'relation') ?? ''] !== undefined
  const target = textAt(declared, 'target') ?? ''
  return isRelation && (attributes.has(target) || target === USER) ? declared : undefined
}

function set(
  { uid, name }: Side,
  keys: Readonly<Record<string, string | undefined>>,
  why: string,
  { attributes, repairs }: Pairing,
): void {
  const declared = attributes.get(uid)?.get(name)
  if (declared === undefined) return
  attributes.get(uid)?.set(name, changed(declared, keys))
  const own = repairs.get(uid) ?? new Map<string, string>()
  repairs.set(uid, own.set(name, why))
}

function changed(
  declared: LiteralMapping,
  keys: Readonly<Record<string, string | undefined>>,
): LiteralMapping {
  const mapping = new LocatedMapping()
  mapping.putAll(declared)
  for (const [key, value] of Object.entries(keys))
    if (value === undefined) mapping.delete(key)
    else mapping.put(key, value, undefined)
  return mapping
}
