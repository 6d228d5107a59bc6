import { ApiFault, callApi, session } from '../api/client.ts'
import { isJsonObject, type JsonRecord } from '../api/json.ts'
import { linksDrafts, populateForm } from '../api/populate.ts'
import type { ApiSchema, TypeInfo } from '../api/schema.ts'
import { withoutPasswords } from '../fields/document-body.ts'

/** Identifies the version that a form edits. documentId null: a new document, or a single type. */
export interface VersionKey {
  readonly type: TypeInfo
  readonly documentId: string | null
  readonly locale: string | null
}

/** The values and the ETag of a version from the server. */
export interface DocumentVersion {
  readonly values: JsonRecord
  readonly etag: string | null
}

/** Reads and writes use the same parameters, so that the ETag of a read is valid for a write (docs/rest.md, "Writing"). */
export function versionQuery(schema: ApiSchema, versionKey: VersionKey, status: string | null) {
  const shown = versionKey.type.draftAndPublish
    ? status
    : linksDrafts(schema, versionKey.type)
      ? 'draft'
      : null
  return {
    ...(shown !== null && { status: shown }),
    ...(versionKey.locale !== null && { locale: versionKey.locale }),
    populate: populateForm(schema, versionKey.type),
  }
}

export const addressOf = ({ type, documentId }: VersionKey): string =>
  documentId === null ? type.path : `${type.path}/${encodeURIComponent(documentId)}`

/** null: there is no such version. */
export async function readVersion(
  schema: ApiSchema,
  versionKey: VersionKey,
  status: 'draft' | 'published',
  signal?: AbortSignal,
): Promise<DocumentVersion | null> {
  const query = versionQuery(schema, versionKey, status)
  try {
    const { body, etag } = await callApi('GET', addressOf(versionKey), { query, ...(signal && { signal }) })
    const data = isJsonObject(body) ? body.data : null
    return isJsonObject(data) ? { values: data, etag } : null
  } catch (fault) {
    if (fault instanceof ApiFault && fault.status === 404) return null
    throw fault
  }
}

/** Unsaved input, and the version that it is based on. */
export interface UnsavedInput {
  readonly base: JsonRecord
  readonly etag: string | null
  readonly values: JsonRecord
}

const storageKeyOf = ({ type, documentId, locale }: VersionKey): string =>
  ['plinth-input', session.user?.id, type.uid, documentId ?? '', locale ?? ''].join(' ')

export function readStoredInput(versionKey: VersionKey): UnsavedInput | null {
  const stored = sessionStorage.getItem(storageKeyOf(versionKey))
  return stored === null ? null : (JSON.parse(stored) as UnsavedInput)
}

/** Stores input without passwords; null removes it. Returns the browser's error if its storage is full, else null. */
export function storeInput(
  schema: ApiSchema,
  versionKey: VersionKey,
  input: UnsavedInput | null,
): DOMException | null {
  if (input === null) {
    sessionStorage.removeItem(storageKeyOf(versionKey))
    return null
  }
  const values = withoutPasswords(schema, versionKey.type.attributes, input.values)
  try {
    sessionStorage.setItem(storageKeyOf(versionKey), JSON.stringify({ ...input, values }))
    return null
  } catch (error) {
    if (error instanceof DOMException) return error
    throw error
  }
}
