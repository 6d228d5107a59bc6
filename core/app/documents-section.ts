import { composeMiddlewares } from '../actions/compose-middlewares.ts'
import { openCache } from '../cache/open-cache.ts'
import { openDocuments } from '../documents/open-documents.ts'
import { openDocumentsApi } from '../documents-api/open-documents-api.ts'
import type { IdentityTerms } from '../identity/identity.ts'
import { userDocuments } from '../identity/users/user-documents.ts'
import { openFiles } from '../media/files.ts'
import type { FileStorage } from '../media/storage/file-storage.ts'
import { stagingFolder } from '../media/storage/staging.ts'
import type { Blueprint } from './compile-app.ts'
import type { RegisteredApp } from './open-plugins.ts'

export type DocumentsSection = ReturnType<typeof openDocumentsSection>

/** The response cache, the documents service, its middlewares, and `app.documents` of the plugins. */
export function openDocumentsSection(
  { project: { settings }, model, storage }: Blueprint,
  { identity, registered }: { readonly identity: IdentityTerms; readonly registered: RegisteredApp },
) {
  const { database, outbox } = identity
  const { enabled, maxBytes } = settings.cache
  const cache = enabled && maxBytes > 0 ? openCache({ database, maxBytes }) : null
  const plain = openDocuments({
    ...{ database, storage, model, outbox, cache },
    maxBytes: settings.database.limits.bytes,
  })
  const documents = userDocuments(plain, identity)
  const around = composeMiddlewares(registered.documentMiddlewares)
  registered.connect(openDocumentsApi({ model, documents, settings: settings.rest, around }))
  return { cache, documents, around }
}

/** The service of uploaded files. */
export const openFilesSection = (
  { project: { root, settings }, model, storage }: Blueprint,
  { identity: { database, outbox }, storage: files }: FilesOptions,
) =>
  openFiles({
    ...{ database, model, storage, files, outbox },
    settings: settings.upload,
    staging: stagingFolder(root),
  })

interface FilesOptions {
  readonly identity: IdentityTerms
  readonly storage: FileStorage
}
