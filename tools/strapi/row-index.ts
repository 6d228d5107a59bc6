import { createHash } from 'node:crypto'
import type { ContentType } from '../../core/model/model.ts'
import type { Status } from '../../core/query/query.ts'
import { roleKeys } from './convert/to-roles.ts'
import type { Correspondence, TypePair } from './field-mapping.ts'
import { roleType } from './read/read-facts.ts'
import { numberAt, type SourceRow, type StrapiDatabase } from './read/source.ts'
import type { StrapiNames } from './strapi-names.ts'
import type { Loss } from './warnings.ts'

/** The Plinth document version of a Strapi row. */
export interface RowLocation {
  readonly documentId: string
  /** null: the content-type is not localized. */
  readonly locale: string | null
  /** `both`: one row of Strapi 4 is a published version and its draft. */
  readonly status: Status | 'both'
  /** The status that links to it refer to: rows of Strapi 5 are versions; rows of Strapi 4 (undefined) are whole documents. */
  readonly linked: Status | undefined
}

/** The rows and documents of each content-type. */
export interface RowIndex {
  /** By Strapi's uid. */
  readonly types: ReadonlyMap<string, IndexedType>
}

export interface IndexedType {
  readonly rows: ReadonlyMap<number, RowLocation>
  /** The row ids by documentId, ordered by the first row. */
  readonly documents: ReadonlyMap<string, readonly number[]>
}

interface IndexOptions {
  readonly source: StrapiDatabase
  readonly names: StrapiNames
  readonly defaultLocale: string
  /** The project's locales. */
  readonly locales: ReadonlySet<string>
  readonly lose: (loss: Loss) => void
}

/** Reads all tables once, to map rows to documents: links refer to rows. */
export async function indexRows(correspondence: Correspondence, options: IndexOptions): Promise<RowIndex> {
  const types = new Map<string, IndexedType>()
  for (const type of correspondence.byUid.values()) types.set(type.uid, await indexType(type, options))
  return { types }
}

async function indexType(type: TypePair, options: IndexOptions): Promise<IndexedType> {
  const { source, names } = options
  const table = names.table(type.collectionName)
  const rows = await source.read({
    table,
    columns: ['id', 'document_id', 'locale', 'published_at', 'name', 'type', 'code'],
    orderBy: ['id'],
  })
  const ids = await documentIds(type, table, rows, options)
  const places = new Map<number, RowLocation>()
  const documents = new Map<string, number[]>()
  for (const row of rows) {
    const id = numberAt(row, 'id')
    if (id === null) options.lose({ of: type.uid, why: 'a row whose id is no number' })
    const documentId = id === null ? undefined : ids.get(id)
    const place = documentId === undefined ? undefined : toPlace(type, row, documentId, options)
    if (id === null || documentId === undefined || place === undefined) continue
    places.set(id, place)
    const others = documents.get(documentId)
    if (others) others.push(id)
    else documents.set(documentId, [id])
  }
  return { rows: places, documents }
}

function toPlace(
  { uid, ours }: TypePair,
  row: SourceRow,
  documentId: string,
  { defaultLocale, locales, lose }: IndexOptions,
): RowLocation | undefined {
  const locale = ours.localized ? row.get('locale') || defaultLocale : null
  if (locale === null || locales.has(locale)) return toRowPlace(ours, row, { documentId, locale })
  lose({ of: uid, why: `the project has no locale \`${locale}\`` })
  return undefined
}

function toRowPlace(
  ours: ContentType,
  row: SourceRow,
  where: Pick<RowLocation, 'documentId' | 'locale'>,
): RowLocation {
  const status = statusOf(ours, row)
  const linked = ours.draftAndPublish && row.has('document_id') && status !== 'both' ? status : undefined
  return { ...where, status, linked }
}

/** Only Strapi 5 has separate rows for drafts. */
function statusOf({ draftAndPublish }: ContentType, row: SourceRow): RowLocation['status'] {
  if (!draftAndPublish) return 'published'
  if (row.get('published_at') === null) return 'draft'
  return row.has('document_id') ? 'published' : 'both'
}

/** Document names by row. Roles and locales use their names in project.yaml. */
async function documentIds(
  type: TypePair,
  table: string,
  rows: readonly SourceRow[],
  { source, names }: IndexOptions,
): Promise<ReadonlyMap<number, string>> {
  const groups = type.localized ? await entriesOfDocuments(names.localizations(table), source) : new Map()
  const called = isRole(type) ? roleKeys(rows.map(roleType)) : rows.map(row => calledOf(type, row))
  return new Map(
    rows.map((row, index) => {
      const id = numberAt(row, 'id') ?? 0
      return [id, called[index] || madeId(table, groups.get(id) ?? id)]
    }),
  )
}

const isRole = ({ ours }: TypePair): boolean => ours.key === 'role' && ours.builtIn

function calledOf({ ours }: TypePair, row: SourceRow): string | null | undefined {
  return ours.key === 'locale' && ours.builtIn ? row.get('code') : row.get('document_id')
}

/** Strapi 4: entries that are translations of each other, each mapped to the lowest of their ids. */
async function entriesOfDocuments(
  table: string,
  source: StrapiDatabase,
): Promise<ReadonlyMap<number, number>> {
  const [, one, other] = source.tables.get(table)?.map(({ name }) => name) ?? []
  const first = new Map<number, number>()
  if (one === undefined || other === undefined) return first
  const leastOf = (id: number): number => {
    const up = first.get(id) ?? id
    return up === id ? id : leastOf(up)
  }
  for (const link of await source.read({ table, columns: [one, other] })) {
    const [left, right] = [numberAt(link, one), numberAt(link, other)]
    if (left === null || right === null) continue
    const [a, b] = [leastOf(left), leastOf(right)]
    first.set(Math.max(a, b), Math.min(a, b))
    first.set(Math.min(a, b), Math.min(a, b))
  }
  return new Map([...first.keys()].map(id => [id, leastOf(id)]))
}

/** A deterministic documentId (24 letters and digits), because Strapi 4 has none. */
const madeId = (table: string, id: number): string =>
  `s${BigInt(`0x${createHash('sha256').update(`${table} ${id}`).digest('hex')}`).toString(36)}`.slice(0, 24)
