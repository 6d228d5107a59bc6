import { randomBytes } from 'node:crypto'
import { trimCharacter } from '../base/text.ts'
import type { DesiredDocument, DesiredValue } from '../documents/desired-state.ts'
import type { ContentType } from '../model/model.ts'
import type { PictureSize } from './picture-size.ts'

/** Metadata of a file (reference/rest.md#8-populate, "Media", and 15). */
export interface FileRecord {
  readonly documentId: string
  readonly name: string
  readonly alternativeText: string | null
  readonly caption: string | null
  /** JSON text. */
  readonly focalPoint: string | null
  readonly hash: string
  /** With the dot. */
  readonly ext: string
  readonly mime: string
  /** In kB with two decimals. */
  readonly size: string
  readonly dimensions: PictureSize | undefined
  readonly formats: Formats | null
  readonly url: string
  readonly provider: string
}

/** Smaller versions of a picture, by the name of the size. */
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

export function toFileDocument(record: FileRecord, type: ContentType): DesiredDocument {
  const { documentId, dimensions, formats, ...fields } = record
  const more = {
    width: dimensions?.width ?? null,
    height: dimensions?.height ?? null,
    formats: formats === null ? null : JSON.stringify(formats),
  }
  return fileDocument(type, documentId, { ...fields, ...more })
}

/** An update of some attributes of a file. */
export function fileDocument(
  type: ContentType,
  documentId: string,
  fields: Readonly<Record<string, string | number | null>>,
): DesiredDocument {
  const values = new Map(
    Object.entries(fields).map(([name, value]): [string, DesiredValue] => [name, { kind: 'scalar', value }]),
  )
  return { type, documentId, versions: [{ locale: null, statuses: ['published'], values }] }
}

const MAX_NAME_LENGTH = 255
/** Reserves space for the random digits, an extension and the name of a format. */
const MAX_SLUG_LENGTH = 200

/** A client's file name as stored: without folders and control characters, at most 255 characters. */
export function cleanName(input: string): string {
  const name = input
    // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what it removes
    .replace(/[\u0000-\u001f\u007f]/g, '')
    .split(/[\\/]/)
    .at(-1)
  const trimmed = shorten((name ?? '').trim())
  return FOLDERS.has(trimmed) ? 'file' : trimmed
}

/** What remains of the path of a folder. */
const FOLDERS: ReadonlySet<string> = new Set(['', '.', '..'])

/** Cuts long names before the extension. */
function shorten(name: string): string {
  if (name.length <= MAX_NAME_LENGTH) return name
  const ext = /\.[A-Za-z0-9]{1,10}$/.exec(name)?.[0] ?? ''
  return name.slice(0, MAX_NAME_LENGTH - ext.length).replace(/[\ud800-\udbff]$/, '') + ext
}

/** reference/rest.md#15-upload: the name with `_` for special characters, then `_` and 10 hexadecimal digits. */
export function toHash(name: string, digits: string = randomBytes(5).toString('hex')): string {
  const slug = name
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
    .replace(/[^A-Za-z0-9]+/g, '_')
    .slice(0, MAX_SLUG_LENGTH)
  return `${trimCharacter(slug, '_') || 'file'}_${digits}`
}

/** Kilobytes with two decimals, as text for a decimal column. */
export const toKilobytes = (bytes: number): string => (bytes / 1000).toFixed(2)
