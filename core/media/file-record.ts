import type { WrittenDocument, WrittenValue } from '../documents/desired-state.ts'
import type { ContentType } from '../model/model.ts'
import type { PictureSize } from './pictures/picture-size.ts'

/** What is known of a file beside its bytes (contract/rest.md 8, "Media", and 15). */
export interface FileRecord {
  readonly documentId: string
  readonly name: string
  readonly alternativeText: string | null
  readonly caption: string | null
  /** JSON text. */
  readonly focalPoint: string | null
  readonly hash: string
  /** With its dot. */
  readonly ext: string
  readonly mime: string
  /** In kB with two decimals. */
  readonly size: string
  readonly dimensions: PictureSize | undefined
  readonly formats: Formats | null
  readonly url: string
  readonly provider: string
}

/** Smaller pictures of a picture, by the name of their size. */
export type Formats = Readonly<Record<string, Format>>

export interface Format {
  readonly name: string
  readonly hash: string
  readonly ext: string
  readonly mime: string
  readonly path: null
  readonly width: number
  readonly height: number
  /** In kB. */
  readonly size: number
  readonly sizeInBytes: number
  readonly url: string
}

export function toFileDocument(record: FileRecord, type: ContentType): WrittenDocument {
  const { documentId, dimensions, formats, ...fields } = record
  const more = {
    width: dimensions?.width ?? null,
    height: dimensions?.height ?? null,
    formats: formats === null ? null : JSON.stringify(formats),
  }
  return fileDocument(type, documentId, { ...fields, ...more })
}

/** A change of some of a file's attributes. */
export function fileDocument(
  type: ContentType,
  documentId: string,
  fields: Readonly<Record<string, string | number | null>>,
): WrittenDocument {
  const values = new Map(
    Object.entries(fields).map(([name, value]): [string, WrittenValue] => [name, { kind: 'scalar', value }]),
  )
  return { type, documentId, versions: [{ locale: null, statuses: ['published'], values }] }
}
