import { groupBy } from '../../base/plain-data.ts'
import { ignoreUnhandled } from '../../base/with-timeout.ts'
import { fault, RequestFault } from '../../faults/fault.ts'
import type { ContentType, Holder } from '../../model/model.ts'
import type { TypeTable } from '../../model/storage.ts'
import type { LinkChange, TargetRef } from '../../query/command.ts'
import { quoteIdentifier as ident } from '../../sql/identifier.ts'
import type { Statement } from '../../sql/statement.ts'
import type { Values } from '../desired-state.ts'
import type { WriteOptions } from '../rows/write-options.ts'
import { inValuesOf, KEEPING_TARGETS } from '../sql/look-ups.ts'
import { cacheTargets } from './known-targets.ts'

/** Whose links they are: a version of a document, whatever component they lie in. */
export interface LinkSource {
  readonly type: ContentType
  readonly locale: string | null
  /** Missing targets are reported by number, however they were named. */
  readonly reportsCount?: boolean
}

/** A document that a body names, found. */
export interface FoundTarget {
  readonly key: number
  readonly documentId: string
  /** The id of a row of it, by which the reference's messages name it. */
  readonly id: number
  /** Only where the link has to name one. */
  readonly locale: string | null
}

/** The targets of a body's references. All of them exist. */
export type FoundTargets = (target: ContentType, ref: TargetName) => FoundTarget

export type TargetName = Pick<TargetRef, 'by' | 'locale'>

interface Ref {
  readonly target: ContentType
  readonly ref: TargetName
  /** The dotted way to a media attribute, without places in lists; null for a relation. */
  readonly media: string | null
}

interface TargetRow extends NamedVersion {
  readonly id: number
  readonly key: number
}

/** A document in one of its locales; null on types without. */
export interface NamedVersion {
  readonly documentId: string
  readonly locale: string | null
}

/** Reads which versions of these documents the caller may find. Permission for one locale implies none for others. */
export type Visible = (
  target: ContentType,
  documentIds: readonly string[],
) => Promise<(version: NamedVersion) => boolean>

/** The keys of files that a document shows already in the media attribute at a dotted way. */
export type HeldFiles = (media: string) => ReadonlySet<number>

export interface TargetOptions extends WriteOptions {
  readonly visible: Visible
  /** Asked only where a body names a file that the caller may not find. */
  readonly held: () => Promise<HeldFiles>
}

/**
 * Finds all that the links of a body name, one statement a type. Refuses (400, reference/rest.md#9-relations-in-bodies) where a document
 * is not there, or not in the locale that the link would have (reference/documents.md#10-connecting).
 */
export async function findTargets(
  holder: Holder,
  values: Values,
  source: LinkSource,
  options: TargetOptions,
): Promise<FoundTargets> {
  const refs = [...refsIn(holder, values)]
  const rows = new Map<ContentType, ReadRows>()
  const reads = [...groupBy(refs, each => each.target)].map(async ([target, group]) => {
    const named = group.map(({ ref }) => ref)
    rows.set(target, await readVisible(target, named, options))
  })
  await Promise.all(reads)
  const within = (found: RowsOf | undefined, { target, ref }: Omit<Ref, 'media'>) =>
    findOne(ref, found?.(ref) ?? [], { target, source, defaultLocale: options.defaultLocale })
  const missing = refs.filter(each => !within(rows.get(each.target)?.seen, each))
  const refused =
    missing.length === 0 ? [] : await withoutHeldFiles(missing, rows, { within, held: options.held })
  refuseMissing(refused, source, options.defaultLocale)
  const ids = refs.flatMap(({ ref: { by } }) => ('id' in by ? [by.id] : []))
  for (const [target, { found }] of rows) cacheTargets(target, { rows: found, ids }, options.storage)
  return (target, ref) => {
    const { seen, all } = rows.get(target) ?? {}
    // A named target that is not visible is a file that the attribute already contains: others were refused before.
    const found = within(seen, { target, ref }) ?? within(all, { target, ref })
    if (!found) throw new TypeError('a target that was not looked for')
    return found
  }
}

interface FileOwners {
  readonly within: (rows: RowsOf | undefined, ref: Omit<Ref, 'media'>) => FoundTarget | undefined
  readonly held: TargetOptions['held']
}

/** Without files that are in the same attribute of the document already. */
async function withoutHeldFiles(
  missing: readonly Ref[],
  rows: ReadonlyMap<ContentType, ReadRows>,
  { within, held }: FileOwners,
): Promise<readonly Ref[]> {
  const isHidden = (ref: Ref) => ref.media !== null && within(rows.get(ref.target)?.all, ref)
  if (!missing.some(isHidden)) return missing
  const holds = await held()
  return missing.filter(({ media, ...named }) => {
    const found = media === null ? undefined : within(rows.get(named.target)?.all, named)
    return media === null || !found || !holds(media).has(found.key)
  })
}

export function* refsIn(holder: Holder, values: Values, path = ''): Generator<Ref> {
  for (const [attributeName, value] of values) {
    const attribute = holder.attributes.get(attributeName)
    const here = path + attributeName
    if (value.kind === 'components')
      for (const { component, values: inner } of value.items)
        yield* refsIn(component, inner, `${here}.${component.uid} `)
    if (value.kind !== 'links' || !value.change) continue
    if (attribute?.kind !== 'relation' && attribute?.kind !== 'media') continue
    const media = attribute.kind === 'media' ? here : null
    for (const ref of refsOf(value.change)) yield { target: attribute.target, ref, media }
  }
}

function* refsOf(change: LinkChange): Generator<TargetName> {
  if (change.kind === 'set') yield* change.targets
  else {
    yield* change.disconnect
    for (const connection of change.connect) {
      yield connection
      const { position } = connection
      if ('by' in position) yield placeRef(position.by)
    }
  }
}

/** The neighbour of a link position. */
export const placeRef = (by: TargetName['by']): TargetName => ({ by, locale: null })

/** The rows of the document that is named. */
type RowsOf = (ref: TargetName) => readonly TargetRow[]

interface ReadRows {
  readonly all: RowsOf
  /** The targets that the caller sees. */
  readonly seen: RowsOf
  readonly found: readonly TargetRow[]
}

/** Visibility is read concurrently with the targets if their documentIds are known already. */
async function readVisible(
  target: ContentType,
  refs: readonly TargetName[],
  options: Pick<TargetOptions, 'visible'> & WriteOptions,
): Promise<ReadRows> {
  const documentIds = refs.flatMap(({ by }) => ('documentId' in by ? [by.documentId] : []))
  const reading = readTargets(target, refs, options)
  const seeing =
    documentIds.length === refs.length ? ignoreUnhandled(options.visible(target, documentIds)) : undefined
  const found = await reading
  const seen = await (seeing ??
    options.visible(
      target,
      found.map(({ documentId }) => documentId),
    ))
  const visible = found.filter(seen)
  const all = indexRows(found)
  return { all, seen: visible.length === found.length ? all : indexRows(visible), found: visible }
}

async function readTargets(
  target: ContentType,
  refs: readonly TargetName[],
  { transaction, storage }: WriteOptions,
): Promise<readonly TargetRow[]> {
  const documentIds = refs.flatMap(({ by }) => ('documentId' in by ? [by.documentId] : []))
  const ids = refs.flatMap(({ by }) => ('id' in by ? [by.id] : []))
  const { rows } = await transaction.run({
    name: `find ${target.pluralApiId} that links name`,
    ...printTargets(storage.table(target), [...new Set(documentIds)], [...new Set(ids)]),
  })
  return rows.map(([row, document, documentId, locale]) => ({
    id: Number(row),
    key: Number(document),
    documentId: String(documentId),
    locale: typeof locale === 'string' ? locale : null,
  }))
}

/** One select for documentIds and one for ids: an index serves each, but not the OR of the two. */
function printTargets(
  { name: table, id, key, documentId, locale }: TypeTable,
  documentIds: readonly string[],
  ids: readonly number[],
): Statement {
  const own = locale === null ? 'NULL' : ident(locale)
  const from = `FROM ${ident(table)} WHERE`
  const values: unknown[] = []
  const named: string[] = []
  if (documentIds.length > 0 || ids.length === 0)
    named.push(`${ident(documentId)} = ANY ($${values.push(documentIds)}::text[])`)
  if (ids.length > 0) {
    const keys = `SELECT ${ident(key)} ${from} ${ident(id)} = ANY ($${values.push(ids)}::bigint[])`
    named.push(inValuesOf(ident(key), keys))
  }
  const [only = ''] = named
  const all = named.map(each => `SELECT ${ident(id)} ${from} ${each}`).join(' UNION ')
  const where = named.length === 1 ? only : inValuesOf(ident(id), all)
  const text = `SELECT ${ident(id)}, ${ident(key)}, ${ident(documentId)}, ${own} ${from} ${where} ORDER BY ${ident(id)} ${KEEPING_TARGETS}`
  return { text, values }
}

/** The rows of the document that a ref names. */
function indexRows(rows: readonly TargetRow[]): RowsOf {
  const byDocument = groupBy(rows, ({ documentId }) => documentId)
  const documents = new Map(rows.map(({ id, documentId }) => [id, documentId]))
  return ({ by }) => byDocument.get('id' in by ? (documents.get(by.id) ?? '') : by.documentId) ?? []
}

interface Sought {
  readonly target: ContentType
  readonly source: LinkSource
  readonly defaultLocale: string
}

export function findOne(
  ref: TargetName,
  rows: readonly TargetRow[],
  sought: Sought,
): FoundTarget | undefined {
  const { by } = ref
  const row = rows.find(each => ('id' in by ? each.id === by.id : each.documentId === by.documentId))
  if (!row) return undefined
  const locale = localeOf(ref, 'id' in by ? row.locale : null, sought)
  const there = rows.find(each => each.key === row.key && (locale === null || each.locale === locale))
  return there && { ...there, locale: sought.source.type.localized ? null : locale }
}

/** The locale that the target must have: the source's, else the one named; null: any. */
function localeOf(
  ref: TargetName,
  ofRow: string | null,
  { target, source, defaultLocale }: Sought,
): string | null {
  if (!target.localized) return null
  return source.type.localized ? source.locale : (ref.locale ?? ofRow ?? defaultLocale)
}

function refuseMissing(missing: readonly Ref[], source: LinkSource, defaultLocale: string): void {
  for (const { target, ref } of missing) {
    if (source.reportsCount || !('documentId' in ref.by)) continue
    const locale = localeOf(ref, null, { target, source, defaultLocale })
    const message = `Document with id "${ref.by.documentId}", locale "${locale}" not found`
    throw new RequestFault(fault('validation', message))
  }
  const [first] = missing
  if (!first) return
  const ids = missing.filter(({ target }) => target === first.target).map(({ ref }) => JSON.stringify(ref.by))
  const message = `${new Set(ids).size} relation(s) of type ${first.target.uid} associated with this entity do not exist`
  const errors = [{ path: [], message, name: 'ValidationError' }]
  throw new RequestFault(fault('validation', message, { errors }))
}
