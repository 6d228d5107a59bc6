import type { Caller } from '../access/caller.ts'
import type { Attribute, ContentType, Holder } from '../model/model.ts'
import { isRecord } from '../query/parse-place.ts'
import { allShapes } from '../query/populate-nodes.ts'

type Data = Readonly<Record<string, unknown>>

/** What Strapi 4 maintains itself, and ignores in bodies. */
const MAINTAINED: ReadonlySet<string> = new Set([
  ...['id', 'documentId', 'locale', 'localizations'],
  ...['createdAt', 'updatedAt', 'publishedAt', 'createdBy', 'updatedBy'],
])

/** False for an attribute of the project with the name of one that Strapi maintains. */
export const isMaintained = (name: string, { attributes }: ContentType): boolean =>
  MAINTAINED.has(name) && attributes.get(name)?.system !== false

/** True for attributes that Strapi 4 drops from the bodies of a caller. */
type IsDropped = (attribute: Attribute) => boolean

/**
 * A body without the names that Strapi 4 ignores: those that it maintains, and those that a type or its components do not
 * have. `isDropped`: others that the caller may not write.
 */
export const withoutUnknown = (data: Data, type: ContentType, isDropped: IsDropped = () => false): Data =>
  knownOf(
    Object.entries(data).filter(([name]) => !isMaintained(name, type)),
    type,
    isDropped,
  )

/** Strapi 4 drops attributes that no request may write, and relations to types that the caller may not find. */
export const droppedFor =
  ({ grants }: Pick<Caller, 'grants'>): IsDropped =>
  attribute =>
    ('writable' in attribute && !attribute.writable) ||
    (attribute.kind === 'relation' && grants.readAccess(attribute.target, 'find') === null)

function knownOf(
  entries: readonly (readonly [string, unknown])[],
  { attributes }: Holder,
  isDropped: IsDropped,
): Data {
  return Object.fromEntries(
    entries.flatMap(([name, value]): [string, unknown][] => {
      const attribute = attributes.get(name)
      return attribute && !isDropped(attribute) ? [[name, knownValue(value, attribute, isDropped)]] : []
    }),
  )
}

/** Entries of components and zones, to any depth. Other values, and entries of an unknown component, are left to the checks of bodies. */
function knownValue(value: unknown, attribute: Attribute, isDropped: IsDropped): unknown {
  if (attribute.kind === 'relation') return withRowPositions(value)
  if (attribute.kind !== 'component' && attribute.kind !== 'zone') return value
  if (Array.isArray(value)) return value.map(each => knownValue(each, attribute, isDropped))
  if (!isRecord(value)) return value
  const { id, __component: uid } = value
  const shapes = attribute.kind === 'zone' ? allShapes(attribute) : [attribute.component]
  const shape = attribute.kind === 'zone' ? shapes.find(each => each.uid === uid) : shapes[0]
  if (!shape) return value
  return {
    ...(id !== undefined && { id }),
    ...(uid !== undefined && { __component: uid }),
    ...knownOf(Object.entries(value), shape, isDropped),
  }
}

/** In Strapi 4 `position: { before: 12 }` names a row, as `connect: [12]` does. */
function withRowPositions(value: unknown): unknown {
  if (!isRecord(value) || value.connect === undefined) return value
  const { connect } = value
  return {
    ...value,
    connect: Array.isArray(connect) ? connect.map(withRowPosition) : withRowPosition(connect),
  }
}

function withRowPosition(entry: unknown): unknown {
  if (!isRecord(entry) || !isRecord(entry.position)) return entry
  const position = Object.fromEntries(
    Object.entries(entry.position).map(([at, neighbour]) => [at, toRowName(neighbour)]),
  )
  return { ...entry, position }
}

const toRowName = (neighbour: unknown): unknown =>
  typeof neighbour === 'number' || (typeof neighbour === 'string' && /^\d+$/.test(neighbour))
    ? { id: neighbour }
    : neighbour
