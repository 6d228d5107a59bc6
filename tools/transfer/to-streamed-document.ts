import type { DesiredComponent, DesiredValue, Values } from '../../core/documents/desired-state.ts'
import type { Current } from '../../core/documents/rows/write-load.ts'
import type { WriteOptions } from '../../core/documents/rows/write-options.ts'
import { type CurrentRow, GAP, numberIn } from '../../core/documents/sql/write-rows.ts'
import { type VersionPlace, valuesOf } from '../../core/documents/state/version-values.ts'
import type { Attribute, ContentType, Holder, ScalarAttribute } from '../../core/model/model.ts'
import type { Status } from '../../core/query/query.ts'
import { streamedParts } from './describe.ts'
import type { LoadedDocument } from './read-documents.ts'
import { collectTargets, type Targets } from './read-documents.ts'
import type {
  StreamedDocument,
  StreamedLink,
  StreamedTarget,
  StreamedValues,
  StreamedVersion,
} from './stream.ts'

/** A document made of rows; its links still refer to keys. */
export interface ReadDocument {
  readonly type: ContentType
  readonly documentId: string
  readonly key: number
  readonly versions: readonly ReadVersion[]
  readonly shared: ReadonlyMap<Status, Values>
}

interface ReadVersion {
  readonly row: CurrentRow
  readonly locale: string | null
  readonly status: Status
  readonly values: Values
}

interface Reading {
  readonly type: ContentType
  readonly current: Current
  readonly options: WriteOptions
  /** In the project's order. */
  readonly locales: readonly string[]
}

/** Versions are sorted by locale in the project's order, drafts first. */
export function readDocument({ documentId, key, rows }: LoadedDocument, reading: Reading): ReadDocument {
  const { type, locales } = reading
  const { own, shared: common } = streamedParts(type)
  const versions = rows
    .map(row => ({ row, ...coordinatesOf(row) }))
    .toSorted(
      (a, b) => placeOf(a.locale, locales) - placeOf(b.locale, locales) || (a.status < b.status ? -1 : 1),
    )
  const valuesIn = (version: Omit<ReadVersion, 'values'>, of: readonly Attribute[]): Values =>
    valuesOf(type, version.row, of, toPlace(version, reading))
  const shared = new Map<Status, Values>()
  for (const version of common.length === 0 ? [] : versions)
    if (!shared.has(version.status)) shared.set(version.status, valuesIn(version, common))
  return {
    type,
    documentId,
    key,
    versions: versions.map(version => ({ ...version, values: valuesIn(version, own) })),
    shared,
  }
}

const placeOf = (locale: string | null, locales: readonly string[]): number =>
  locale === null ? -1 : locales.indexOf(locale)

function coordinatesOf(row: CurrentRow): { readonly locale: string | null; readonly status: Status } {
  const locale = row.get('locale')
  return {
    locale: typeof locale === 'string' ? locale : null,
    status: row.get('status') === 'draft' ? 'draft' : 'published',
  }
}

const toPlace = (
  { locale, status }: Pick<ReadVersion, 'locale' | 'status'>,
  { type, current, options }: Reading,
): VersionPlace => ({ root: type, status, locale, current, options, inverse: true })

/** Collects the targets of the document's links. */
export function addLinkTargets({ type, versions, shared }: ReadDocument, targets: Targets): void {
  for (const { values } of versions) collectTargets(type, values, targets)
  for (const values of shared.values()) collectTargets(type, values, targets)
}

/** The document in the format of the stream. */
export function toStreamedDocument(
  { type, documentId, key, versions, shared }: ReadDocument,
  options: StreamOptions,
): StreamedDocument {
  return {
    type: type.uid,
    documentId,
    ...keyOf(key, versions),
    versions: versions.map(version => toStreamedVersion(type, version, options)),
    ...(shared.size === 0
      ? {}
      : {
          shared: Object.fromEntries(
            [...shared].map(([status, values]) => [status, toStreamedValues(type, values, options)]),
          ),
        }),
  }
}

/** The row that links refer to may have been deleted. */
const keyOf = (key: number, versions: readonly ReadVersion[]): Pick<StreamedDocument, 'key'> =>
  Math.min(...versions.map(({ row }) => numberIn(row, 'id'))) === key ? {} : { key }

const toStreamedVersion = (
  type: ContentType,
  { row, locale, status, values }: ReadVersion,
  options: StreamOptions,
): StreamedVersion => ({
  id: numberIn(row, 'id'),
  ...(type.localized && locale !== null ? { locale } : {}),
  ...(type.draftAndPublish ? { status } : {}),
  createdAt: textIn(row, 'created_at'),
  updatedAt: textIn(row, 'updated_at'),
  ...(row.get('published_at') === null && status === 'draft'
    ? {}
    : { publishedAt: stampIn(row, 'published_at') }),
  ...(type.localized && type.draftAndPublish ? { sharedUpdatedAt: stampIn(row, 'shared_updated_at') } : {}),
  values: toStreamedValues(type, values, options),
})

function stampIn(row: CurrentRow, column: string): string | null {
  const value = row.get(column)
  return typeof value === 'string' ? value : null
}

const textIn = (row: CurrentRow, column: string): string => String(row.get(column))

export interface StreamOptions {
  /** True to export password hashes. */
  readonly passwords: boolean
  /** The name of a document in the stream; undefined: it no longer exists. */
  readonly nameOf: (target: ContentType, key: number) => string | undefined
}

/** Converts stored values to the stream's format; omits null and empty values. */
function toStreamedValues(holder: Holder, values: Values, options: StreamOptions): StreamedValues {
  const streamed: Record<string, unknown> = {}
  for (const [name, value] of values) {
    const attribute = holder.attributes.get(name)
    const found = attribute === undefined ? undefined : toStreamed(holder, attribute, value, options)
    if (found !== undefined) streamed[name] = found
  }
  return streamed
}

function toStreamed(
  holder: Holder,
  attribute: Attribute,
  value: DesiredValue,
  options: StreamOptions,
): unknown {
  if (value.kind === 'components') return componentsIn(attribute, value.items, options)
  if (value.kind === 'links') return linksIn(attribute, value.targets, options)
  return attribute.kind === 'scalar' ? scalarIn(holder, attribute, value.value, options) : undefined
}

function scalarIn(
  holder: Holder,
  attribute: ScalarAttribute,
  stored: unknown,
  { passwords }: StreamOptions,
): unknown {
  if (stored === null || (isSecret(holder, attribute) && !passwords)) return undefined
  if (attribute.type === 'password') return { hash: stored }
  return JSON_TYPES.has(attribute.type) ? parseStored(stored) : stored
}

const parseStored = (stored: unknown): unknown => JSON.parse(String(stored)) ?? undefined

const JSON_TYPES: ReadonlySet<string> = new Set(['json', 'array', 'blocks'])

/** Attributes that are credentials. */
export const isSecret = (holder: Holder, { name, type }: ScalarAttribute): boolean =>
  type === 'password' || (isUser(holder) && (name === 'resetPasswordToken' || name === 'confirmationToken'))

const isUser = ({ uid }: Holder): boolean => uid === 'plugin::users-permissions.user'

function componentsIn(
  attribute: Attribute,
  items: readonly DesiredComponent[],
  options: StreamOptions,
): unknown {
  const isZone = attribute.kind === 'zone'
  const streamed = items.map(({ component, values }) => ({
    ...(isZone ? { __component: component.uid } : {}),
    ...toStreamedValues(component, values, options),
  }))
  if (streamed.length === 0) return undefined
  return isZone || (attribute.kind === 'component' && attribute.repeatable) ? streamed : streamed[0]
}

type LinkTargets = (DesiredValue & { readonly kind: 'links' })['targets']

function linksIn(attribute: Attribute, targets: LinkTargets, { nameOf }: StreamOptions): unknown {
  if (attribute.kind !== 'relation' && attribute.kind !== 'media') return undefined
  const links = targets.flatMap(({ key, locale, status, inversePlace }): readonly StreamedTarget[] => {
    const documentId = key === undefined ? undefined : nameOf(attribute.target, key)
    if (documentId === undefined) return []
    const order = inversePlace === undefined ? {} : { order: inversePlace / GAP }
    return [
      {
        documentId,
        ...(locale === null ? {} : { locale }),
        ...(status === null ? {} : { status }),
        ...order,
      },
    ]
  })
  if (links.length === 0) return undefined
  if (attribute.many) return links.map(toLink)
  const merged = inBoth(links)
  return merged.length === 1 && merged[0] ? toLink(merged[0]) : merged.map(toLink)
}

/** A to-one link has a row per status; usually both link to the same document. */
function inBoth(links: readonly StreamedTarget[]): readonly StreamedTarget[] {
  const [first, second] = links
  if (!first || !second || first.documentId !== second.documentId || first.locale !== second.locale)
    return links
  const { status: _, ...both } = first
  return [both]
}

function toLink(target: StreamedTarget): StreamedLink {
  return Object.keys(target).length === 1 ? target.documentId : target
}
