import { didYouMean } from '../base/nearest.ts'
import type { LinkTarget } from '../documents/desired-state.ts'
import { documentIdOf } from '../documents/rows/document-id.ts'
import type { LinkParser, ParsedLinks } from '../documents/values/parse-attribute.ts'
import type { ValueFault } from '../documents/values/value-fault.ts'
import type { Path } from '../faults/diagnostic.ts'
import { mediaKind } from '../media/file-type.ts'
import type { MediaAttribute, RelationAttribute } from '../model/model.ts'
import { type MediaFile, type MediaFolder, type MediaReference, readMediaFile } from './media-file.ts'
import { type EntryBody, isEntryBody } from './read-entries.ts'

/** A link in content/, checked after all documents have been read. */
export interface Reference {
  readonly attribute: RelationAttribute
  /** As written: a documentId, a username, a role's key. */
  readonly word: string
  readonly target: LinkTarget
  readonly path: Path
}

export interface LinkReader {
  readonly parse: LinkParser
  readonly references: Reference[]
  readonly files: MediaFile[]
}

/** Files already read, by reference: pictures are often used several times. */
export type MediaCache = Map<string, MediaFile | undefined>

/** Parses links of content/: documentIds for relations, `{ file }` for media. */
export function readLinks(folder: MediaFolder, cache: MediaCache): LinkReader {
  const references: Reference[] = []
  const files: MediaFile[] = []
  const parse: LinkParser = (attribute, value, path) => {
    const one = (each: unknown, at: Path): ParsedTarget =>
      attribute.kind === 'media' || attribute.target.uid === 'plugin::upload.file'
        ? readMediaLink(attribute, each, at, { folder, cache, files })
        : readRelation(attribute, each, at, references)
    return parseTargets(attribute, value, path, one)
  }
  return { parse, references, files }
}

type ParsedTarget = { readonly target: LinkTarget } | { readonly fault: ValueFault }

const linkFault = (path: Path, message: string): ParsedTarget => ({ fault: { kind: 'rule', path, message } })

const unknownKey = (path: Path, key: string, known: readonly string[]): ParsedTarget => ({
  fault: { kind: 'key', path: [...path, key], message: `unknown key \`${key}\`${didYouMean(key, known)}` },
})

function parseTargets(
  attribute: RelationAttribute | MediaAttribute,
  value: unknown,
  path: Path,
  one: (each: unknown, path: Path) => ParsedTarget,
): ParsedLinks {
  if (value === null) return { targets: [], faults: [] }
  if (Array.isArray(value) && !attribute.many && value.length > 1) {
    const message = `\`${attribute.name}\` leads to one document, not to several`
    return { targets: undefined, faults: [{ kind: 'rule', path, message }] }
  }
  const read = Array.isArray(value)
    ? value.map((each, index) => one(each, [...path, index]))
    : [one(value, path)]
  const faults = read.flatMap(each => ('fault' in each ? [each.fault] : []))
  const targets = read.flatMap(each => ('target' in each ? [each.target] : []))
  return { targets: faults.length > 0 ? undefined : targets, faults }
}

const LINK_KEYS = ['documentId', 'locale', 'status']

function readRelation(
  attribute: RelationAttribute,
  value: unknown,
  path: Path,
  references: Reference[],
): ParsedTarget {
  const body = isEntryBody(value) ? value : { documentId: value }
  const unknown = Object.keys(body).find(key => !LINK_KEYS.includes(key))
  if (unknown !== undefined) return unknownKey(path, unknown, LINK_KEYS)
  const { documentId, locale = null, status = null } = body
  if (typeof documentId === 'number')
    return linkFault(path, `\`${documentId}\` is a number: put a documentId in quotes`)
  if (typeof documentId !== 'string') return linkFault(path, 'expected a documentId')
  if (locale !== null && typeof locale !== 'string')
    return linkFault([...path, 'locale'], 'expected a locale')
  if (status !== null && status !== 'draft' && status !== 'published')
    return linkFault([...path, 'status'], '`status` is `draft` or `published`')
  const target: LinkTarget = { documentId: targetId(attribute, documentId), locale, status }
  references.push({ attribute, word: documentId, target, path })
  return { target }
}

/** Users are referenced by username, roles by key. The result is a placeholder until the real id is looked up. */
function targetId({ target }: RelationAttribute, word: string): string {
  if (!target.builtIn) return word
  return target.key === 'user' ? documentIdOf('user', word) : documentIdOf(target.key, word)
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

function readMediaLink(
  attribute: RelationAttribute | MediaAttribute,
  value: unknown,
  path: Path,
  reading: MediaReader,
): ParsedTarget {
  const body = typeof value === 'string' ? { file: value } : value
  if (!isEntryBody(body) || typeof body.file !== 'string')
    return linkFault(path, 'expected `{ file: … }`, a path from content/media/')
  const unknown = Object.keys(body).find(key => !FILE_KEYS.includes(key))
  if (unknown !== undefined) return unknownKey(path, unknown, FILE_KEYS)
  const wrong = FILE_KEYS.find(key => !isTextOrAbsent(body[key]))
  if (wrong !== undefined) return linkFault([...path, wrong], `\`${wrong}\` is a text`)
  const at = typeof value === 'string' ? path : [...path, 'file']
  const file = readCached(reading, {
    file: body.file,
    name: optionalText(body, 'name'),
    alternativeText: optionalText(body, 'alternativeText'),
    caption: optionalText(body, 'caption'),
  })
  if (file === undefined) return linkFault(at, `no file \`${body.file}\` in content/media/`)
  if (attribute.kind === 'media' && !attribute.allowedTypes.includes(mediaKind(file.mime)))
    return linkFault(
      at,
      `\`${body.file}\` is ${file.mime}: \`${attribute.name}\` takes ${attribute.allowedTypes.join(', ')}`,
    )
  reading.files.push(file)
  return { target: { documentId: file.documentId, locale: null, status: null } }
}

const isTextOrAbsent = (value: unknown): boolean =>
  value === undefined || value === null || typeof value === 'string'

const optionalText = (body: EntryBody, key: string): string | null => {
  const value = body[key]
  return typeof value === 'string' ? value : null
}
