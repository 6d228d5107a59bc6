import { type News, OWN_ORIGIN } from '../../../core/documents/outbox.ts'
import type { PlacedDocument } from './place-batch.ts'

/** What the import of a document did, as requests that did the same would tell it. */
export function newsOf({ document: { type, versions }, first, there }: PlacedDocument): News {
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
