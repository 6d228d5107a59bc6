import type { LinkTarget, WrittenDocument, WrittenVersion } from '../documents/desired-state.ts'
import { choiceOf, meeting } from '../documents/read/matching.ts'
import { seenLocales } from '../documents/read/version-visibility.ts'
import type { WriteTerms } from '../documents/rows/write-terms.ts'
import { isShared } from '../documents/rows/write-versions.ts'
import type { TableLink } from '../model/storage.ts'
import type { Filter, Status } from '../query/query.ts'
import { quoteIdentifier as name } from '../sql/identifier.ts'
import type { Attachment } from './attachment.ts'

export interface AttachTerms extends WriteTerms {
  readonly attachment: Attachment
}

interface OwnerRow {
  readonly id: number
  readonly documentId: string
  readonly status: Status
  readonly locale: string | null
}

/**
 * The document with the files at the end of its list, or instead of its only one; null where there is no such
 * document for the caller. The draft and the published version keep their own lists, and none is made anew.
 */
export async function planAttachment(
  fileIds: readonly string[],
  terms: AttachTerms,
): Promise<WrittenDocument | null> {
  const { type, attribute, where, publishing } = terms.attachment
  const all = await ownerRows(terms)
  const rows = inOneLocale(all, terms)
  const [first] = rows
  const judged = isShared(type, attribute) ? all : rows
  if (!first || !(await sees(first, terms)) || !(await meets(where, judged, terms))) return null
  const publishes = publishing !== 'never' && (await meets(publishing, judged, terms))
  const versions: WrittenVersion[] = []
  for (const row of rows.filter(({ status }) => publishes || status === 'draft')) {
    const before = attribute.many ? await filesOf(row, terms) : []
    const targets = [...before, ...fileIds].map(toTarget)
    versions.push({
      locale: row.locale,
      statuses: [row.status],
      values: new Map([[attribute.name, { kind: 'links', targets }]]),
    })
  }
  return versions.length === 0 ? null : { type, documentId: first.documentId, versions }
}

const toTarget = (documentId: string): LinkTarget => ({ documentId, locale: null, status: null })

/** The rows of the document, locked. */
async function ownerRows(terms: AttachTerms): Promise<readonly OwnerRow[]> {
  const { attachment, storage, transaction } = terms
  const { target } = attachment
  const table = storage.table(attachment.type)
  const status = table.status === null ? `'published'` : name(table.status)
  const locale = table.locale === null ? 'NULL' : name(table.locale)
  const [column, value] = 'id' in target ? [table.id, target.id] : [table.documentId, target.documentId]
  const { rows } = await transaction.run({
    name: `find ${attachment.type.key} to attach to`,
    text: `SELECT ${name(table.id)}, ${name(table.documentId)}, ${status}, ${locale} FROM ${name(table.name)} WHERE ${name(table.documentId)} IN (SELECT ${name(table.documentId)} FROM ${name(table.name)} WHERE ${name(column)} = $1) ORDER BY ${name(table.id)} FOR UPDATE`,
    values: [value],
  })
  return rows.map(
    ([id, documentId, state, code]): OwnerRow => ({
      id: Number(id),
      documentId: String(documentId),
      status: state === 'draft' ? 'draft' : 'published',
      locale: typeof code === 'string' ? code : null,
    }),
  )
}

/** Those of the locale of the row that the id names, or of the default one. */
function inOneLocale(
  rows: readonly OwnerRow[],
  { attachment: { type, target }, defaultLocale }: AttachTerms,
): readonly OwnerRow[] {
  if (!type.localized) return rows
  const wanted = 'id' in target ? rows.find(({ id }) => id === target.id)?.locale : defaultLocale
  return rows.filter(row => row.locale === wanted)
}

async function sees({ documentId, locale }: OwnerRow, terms: AttachTerms): Promise<boolean> {
  const { type, sights } = terms.attachment
  const seen = await seenLocales({ type, documentId, locale, conditions: { sights } }, terms)
  return seen(locale)
}

/** Whether the document meets a condition in its locale; what all locales share is changed in each of them. */
async function meets(where: Filter | null, rows: readonly OwnerRow[], terms: AttachTerms): Promise<boolean> {
  const { type } = terms.attachment
  if (where === null) return true
  const documentIds = rows.slice(0, 1).map(({ documentId }) => documentId)
  const locales = new Set(rows.map(({ locale }) => locale))
  const [locale] = locales
  const choice = choiceOf(type, locales.size === 1 ? (locale ?? null) : null)
  return (await meeting({ type, documentIds, locale: choice, filter: where }, terms)) === locales.size
}

/** The documentIds of the files in a version's list, in order. */
async function filesOf({ id }: OwnerRow, terms: AttachTerms): Promise<readonly string[]> {
  const { attachment, storage, transaction } = terms
  const { type, attribute } = attachment
  const link = storage.link(type, attribute.name)
  if (link.kind !== 'table') return []
  const file = storage.table(attribute.target)
  const { rows } = await transaction.run({
    name: `find ${attribute.name} of ${type.key}`,
    text: `SELECT f.${name(file.documentId)} FROM ${name(storage.table(type).name)} o JOIN ${name(link.table)} l ON ${ownedBy(link)} JOIN ${name(file.name)} f ON f.${name(file.key)} = l.${name(link.targetKey)} WHERE o.${name('id')} = $1 ORDER BY l.${name(link.position)}, l.${name('id')}`,
    values: [id],
  })
  return rows.map(([documentId]) => String(documentId))
}

const ownedBy = ({ owner }: TableLink): string =>
  owner.map(([link, column]) => `l.${name(link)} = o.${name(column)}`).join(' AND ')
