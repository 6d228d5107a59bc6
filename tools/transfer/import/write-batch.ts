import type { Transaction } from '../../../core/database/database.ts'
import { type ChangeEvent, OWN_ORIGIN, openChangeRecorder } from '../../../core/documents/outbox.ts'
import { removeVersions } from '../../../core/documents/rows/remove-versions.ts'
import { loadCurrent, loadDocuments } from '../../../core/documents/rows/write-load.ts'
import type { WriteTerms } from '../../../core/documents/rows/write-terms.ts'
import type { CurrentRow } from '../../../core/documents/sql/write-rows.ts'
import { writeDocuments } from '../../../core/documents/write-documents.ts'
import type { ContentType } from '../../../core/model/model.ts'
import { filesOf, storeFiles } from './import-files.ts'
import type { ImportTerms, ReplacedUser } from './import-terms.ts'
import type { ParsedDocument } from './parsed-document.ts'
import type { PlacedDocument } from './place-batch.ts'

/** Writes documents in a transaction, with one statement per table and set of columns. */
export async function writeBatch(
  placed: readonly PlacedDocument[],
  transaction: Transaction,
  writing: WriteTerms,
  terms: ImportTerms,
): Promise<void> {
  if (placed.length === 0) return
  await terms.beforeUsers(transaction, usersIn(placed, terms))
  const first = placed.map(each => each.first)
  const current = await loadCurrent(first, writing)
  const leftover = placed.flatMap(each =>
    leftOver(each, current.rows(each.first.type, each.first.documentId)),
  )
  await writeDocuments(first, writing, current)
  const second = placed.flatMap(each => each.second ?? [])
  if (second.length > 0) await writeDocuments(second, writing)
  for (const each of leftover) await removeLeft(each, writing)
  const tell = openChangeRecorder(terms.outbox).within(transaction, writing.now)
  for (const each of placed) tell(importEvents(each))
}

/** Files are stored before the rows that reference them. */
export async function storeBytes(documents: readonly ParsedDocument[], terms: ImportTerms): Promise<void> {
  const { filesFolder, files, model } = terms
  if (filesFolder === null) return
  for (const { type, versions } of documents) {
    const [version] = versions
    if (type === model.builtIn.file && version) await storeFiles(filesFolder, filesOf(version.values), files)
  }
}

function usersIn(placed: readonly PlacedDocument[], { model }: ImportTerms): readonly ReplacedUser[] {
  return placed.flatMap(({ first, there }) => {
    const values = first.versions[0]?.values
    const email = values?.get('email')
    const password = values?.get('password')
    if (first.type !== model.builtIn.user || !there || email?.kind !== 'scalar') return []
    const hash = password?.kind === 'scalar' ? password.value : undefined
    return [
      {
        documentId: there.documentId,
        email: String(email.value),
        password: hash === undefined || hash === null ? hash : String(hash),
      },
    ]
  })
}

interface LeftOver {
  readonly type: ContentType
  readonly documentId: string
  readonly ids: ReadonlySet<unknown>
}

/** Versions in the database that the line does not have. */
function leftOver(
  { document, first, there }: PlacedDocument,
  rows: readonly CurrentRow[],
): readonly LeftOver[] {
  if (!there) return []
  const { type, versions } = document
  const isTold = (row: CurrentRow) =>
    versions.some(
      ({ locale, status }) =>
        (!type.localized || row.get('locale') === locale) &&
        (!type.draftAndPublish || row.get('status') === status),
    )
  const gone = rows.filter(row => !isTold(row))
  if (gone.length === 0) return []
  return [{ type, documentId: first.documentId, ids: new Set(gone.map(row => row.get('id'))) }]
}

async function removeLeft({ type, documentId, ids }: LeftOver, writing: WriteTerms): Promise<void> {
  const current = await loadDocuments(type, [documentId], writing)
  const gone = current.rows(type, documentId).filter(row => ids.has(row.get('id')))
  await removeVersions({ type, documentId, gone, current }, writing)
}

/** The change events of an imported document, the same as for equivalent requests. */
function importEvents({ document: { type, versions }, first, there }: PlacedDocument): ChangeEvent {
  const locales = [...new Set(versions.map(({ locale }) => locale))]
  const isPublished = (locale: string | null) =>
    type.draftAndPublish &&
    versions.some(version => version.locale === locale && version.status === 'published')
  return {
    type,
    documentId: first.documentId,
    changes: locales.flatMap(locale => [
      { locale, action: there ? ('update' as const) : ('create' as const) },
      ...(isPublished(locale) ? [{ locale, action: 'publish' as const }] : []),
    ]),
    origin: OWN_ORIGIN,
  }
}
