import { callApi } from '../api/client.ts'
import { asList, isJsonObject, type JsonRecord, type JsonValue } from '../api/json.ts'

/** The editable metadata of a file. */
export interface FileMetadata {
  readonly name: string
  readonly alternativeText: string
  readonly caption: string
  /** Percent of the width and the height; null: the center. */
  readonly focalPoint: { readonly x: number; readonly y: number } | null
}

export const PAGE_SIZE = 24

/** One page of files and, if there are more, one file of the next page. `kinds`: prefixes of MIME types; `start`: offset. */
export async function listFiles(
  search: string,
  kinds: readonly string[],
  start: number,
  signal?: AbortSignal,
): Promise<readonly JsonRecord[]> {
  const filters = {
    ...(search !== '' && { name: { $containsi: search } }),
    ...(kinds.length > 0 && { $or: kinds.map(kind => ({ mime: { $startsWith: kind } })) }),
  }
  const { body } = await callApi('GET', '/upload/files', {
    query: { filters, sort: 'id:desc', start, limit: PAGE_SIZE + 1 },
    ...(signal && { signal }),
  })
  return asList(body).filter(isJsonObject)
}

export async function uploadFiles(files: readonly File[]): Promise<readonly JsonRecord[]> {
  const form = new FormData()
  for (const file of files) form.append('files', file)
  const { body } = await callApi('POST', '/upload', { form })
  return asList(body).filter(isJsonObject)
}

export async function saveMetadata(id: JsonValue, metadata: FileMetadata): Promise<JsonRecord> {
  const form = new FormData()
  form.append('fileInfo', JSON.stringify(metadata))
  const { body } = await callApi('POST', '/upload', { query: { id }, form })
  return isJsonObject(body) ? body : {}
}

export const deleteFile = (id: JsonValue) =>
  callApi('DELETE', `/upload/files/${encodeURIComponent(String(id))}`)

/** `images`, `videos`, `audios` of `allowedTypes` as prefixes of MIME types; empty for `files`: any type. */
export function mimesOf(allowedTypes: readonly string[]): readonly string[] {
  if (allowedTypes.includes('files')) return []
  return allowedTypes.map(kind => `${kind.replace(/s$/, '')}/`)
}
