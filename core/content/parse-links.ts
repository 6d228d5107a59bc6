import type { LinkParser, ParsedLinks } from '../documents/values/parse-attribute.ts'
import { type Body, isBody } from '../documents/values/parse-item.ts'
import type { ValueFault } from '../documents/values/value-fault.ts'
import type { Path } from '../faults/diagnostic.ts'
import { type ParsedLink, parseLink, unknownLinkKeys } from '../import/links.ts'
import { mediaKind } from '../media/file-type.ts'
import type { MediaAttribute, RelationAttribute } from '../model/model.ts'
import { type MediaFile, type MediaFolder, type MediaReference, readMediaFile } from './media-file.ts'

export interface LinkReader {
  readonly parse: LinkParser
  /** Files that the parsed links lead to. */
  readonly files: MediaFile[]
}

/** Files already read, by reference: pictures are often used several times. */
export type MediaCache = Map<string, MediaFile | undefined>

export interface LinkReaderOptions {
  readonly folder: MediaFolder
  readonly cache: MediaCache
  /** Codes of the project's locales. */
  readonly locales: readonly string[]
}

const LINK_KEYS = ['documentId', 'locale', 'status']

/** Parses links of content/: documentIds for relations, `{ file }` for media. Checks targets that are files. */
export function readLinks({ folder, cache, locales }: LinkReaderOptions): LinkReader {
  const files: MediaFile[] = []
  const parse: LinkParser = (attribute, value, path) =>
    parseTargets(attribute, value, path, (each, at) =>
      attribute.kind === 'media' || attribute.target.uid === 'plugin::upload.file'
        ? readMediaLink(attribute, each, at, { folder, cache, files })
        : parseLink(each, at, { keys: LINK_KEYS, locales }),
    )
  return { parse, files }
}

function parseTargets(
  attribute: RelationAttribute | MediaAttribute,
  value: unknown,
  path: Path,
  one: (each: unknown, path: Path) => ParsedLink,
): ParsedLinks {
  if (value === null) return { targets: [], faults: [] }
  if (Array.isArray(value) && !attribute.many && value.length > 1) {
    const message = `\`${attribute.name}\` leads to one document, not to several`
    return { targets: undefined, faults: [{ kind: 'rule', path, message }] }
  }
  const parsed = Array.isArray(value)
    ? value.map((each, index) => one(each, [...path, index]))
    : [one(value, path)]
  const faults = parsed.flatMap(link => link.faults)
  const targets = parsed.flatMap(({ target }) => target ?? [])
  return { targets: faults.length > 0 ? undefined : targets, faults }
}

const FILE_KEYS = ['file', 'name', 'alternativeText', 'caption']

interface MediaReader {
  readonly folder: MediaFolder
  readonly cache: MediaCache
  readonly files: MediaFile[]
}

function readCached({ folder, cache }: MediaReader, use: MediaReference): MediaFile | undefined {
  const key = JSON.stringify(use)
  if (!cache.has(key)) cache.set(key, readMediaFile(folder, use))
  return cache.get(key)
}

const refused = (...faults: readonly ValueFault[]): ParsedLink => ({ target: undefined, faults })

const rule = (path: Path, message: string): ValueFault => ({ kind: 'rule', path, message })

function readMediaLink(
  attribute: RelationAttribute | MediaAttribute,
  value: unknown,
  path: Path,
  reading: MediaReader,
): ParsedLink {
  const body = typeof value === 'string' ? { file: value } : value
  if (!isBody(body) || typeof body.file !== 'string')
    return refused(rule(path, 'expected `{ file: … }`, a path from content/media/'))
  const wrong = FILE_KEYS.filter(key => !isTextOrAbsent(body[key]))
  const faults = [
    ...unknownLinkKeys(body, path, FILE_KEYS),
    ...wrong.map(key => rule([...path, key], `\`${key}\` is a text`)),
  ]
  if (faults.length > 0) return refused(...faults)
  const at = typeof value === 'string' ? path : [...path, 'file']
  const file = readCached(reading, {
    file: body.file,
    name: optionalText(body, 'name'),
    alternativeText: optionalText(body, 'alternativeText'),
    caption: optionalText(body, 'caption'),
  })
  if (file === undefined) return refused(rule(at, `no file \`${body.file}\` in content/media/`))
  if (attribute.kind === 'media' && !attribute.allowedTypes.includes(mediaKind(file.mime))) {
    const message = `\`${body.file}\` is ${file.mime}: \`${attribute.name}\` takes ${attribute.allowedTypes.join(', ')}`
    return refused(rule(at, message))
  }
  reading.files.push(file)
  return { target: { documentId: file.documentId, locale: null, status: null }, faults: [] }
}

const isTextOrAbsent = (value: unknown): boolean =>
  value === undefined || value === null || typeof value === 'string'

const optionalText = (body: Body, key: string): string | null => {
  const value = body[key]
  return typeof value === 'string' ? value : null
}
