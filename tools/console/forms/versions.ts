import { ApiFault, callApi, session } from '../api/client.ts'
import { isJsonObject, type JsonRecord } from '../api/json.ts'
import { linksDrafts, populateForm } from '../api/populate.ts'
import type { ApiSchema, TypeInfo } from '../api/schema.ts'
import { withoutPasswords } from '../fields/document-body.ts'

/** Which version of which document a form is about. documentId null: one that is not saved yet, or a single type. */
export interface DocumentPlace {
  readonly type: TypeInfo
  readonly documentId: string | null
  readonly locale: string | null
}

/** A version as the server answered it. */
export interface DocumentVersion {
  readonly values: JsonRecord
  readonly etag: string | null
}

/** Reads and writes with the same parameters, so that an ETag of one is valid for the other (docs/rest.md, "Writing"). */
export function versionQuery(schema: ApiSchema, place: DocumentPlace, status: string | null) {
  const shown = place.type.draftAndPublish ? status : linksDrafts(schema, place.type) ? 'draft' : null
  return {
    ...(shown !== null && { status: shown }),
    ...(place.locale !== null && { locale: place.locale }),
    populate: populateForm(schema, place.type),
  }
}

export const addressOf = ({ type, documentId }: DocumentPlace): string =>
  documentId === null ? type.path : `${type.path}/${encodeURIComponent(documentId)}`

/** null: there is no such version. */
export async function readVersion(
  schema: ApiSchema,
  place: DocumentPlace,
  status: 'draft' | 'published',
  signal?: AbortSignal,
): Promise<DocumentVersion | null> {
  const query = versionQuery(schema, place, status)
  try {
    const { body, etag } = await callApi('GET', addressOf(place), { query, ...(signal && { signal }) })
    const data = isJsonObject(body) ? body.data : null
    return isJsonObject(data) ? { values: data, etag } : null
  } catch (fault) {
    if (fault instanceof ApiFault && fault.status === 404) return null
    throw fault
  }
}

/** What was typed and not saved: the input, and the version that it was typed into. */
export interface UnsavedInput {
  readonly base: JsonRecord
  readonly etag: string | null
  readonly values: JsonRecord
}

const keyOf = ({ type, documentId, locale }: DocumentPlace): string =>
  ['plinth-input', session.user?.id, type.uid, documentId ?? '', locale ?? ''].join(' ')

export function readInput(place: DocumentPlace): UnsavedInput | null {
  const stored = sessionStorage.getItem(keyOf(place))
  return stored === null ? null : (JSON.parse(stored) as UnsavedInput)
}

/** Input of null removes it. Passwords are never kept. Returns why it could not be kept: the browser has no room for it. */
export function keepInput(
  schema: ApiSchema,
  place: DocumentPlace,
  input: UnsavedInput | null,
): DOMException | null {
  if (input === null) {
    sessionStorage.removeItem(keyOf(place))
    return null
  }
  const values = withoutPasswords(schema, place.type.attributes, input.values)
  try {
    sessionStorage.setItem(keyOf(place), JSON.stringify({ ...input, values }))
    return null
  } catch (error) {
    if (error instanceof DOMException) return error
    throw error
  }
}
