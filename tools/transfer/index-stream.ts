import { createHash } from 'node:crypto'
import { memoize } from '../../core/base/memo.ts'
import { didYouMean } from '../../core/base/nearest.ts'
import { failed, ok, type Result } from '../../core/base/result.ts'
import { isBody } from '../../core/documents/values/parse-item.ts'
import type { ContentType, Holder, Model } from '../../core/model/model.ts'
import { describeAttributes, describeType } from './describe.ts'
import { nameInStream } from './import/import-options.ts'
import { IdSet, KeyIndex } from './import/key-index.ts'
import { nameOf } from './import/parse-document.ts'
import { parseJsonLine, parseLine, readLines, type StreamLine } from './parse-line.ts'
import {
  type DescribedAttributes,
  type DescribedType,
  FORMAT,
  type Header,
  type StreamedDocument,
} from './stream.ts'
import type { LineFault } from './stream-fault.ts'

/** The index of a stream, built before anything is written. */
export interface StreamIndex {
  readonly header: Header
  /** SHA-256 of the whole file, hexadecimal. */
  readonly digest: string
  /** The number of documents. */
  readonly total: number
  readonly types: ReadonlyMap<ContentType, TypeIndex>
  /** The position of a document among those of its type; undefined: it is not in the stream. */
  find(type: ContentType, documentId: string): { readonly ordinal: number; readonly key: number } | undefined
}

export interface TypeIndex {
  readonly documents: number
  /** True if every version has a row number. */
  readonly numbered: boolean
  /** The highest row number. */
  readonly highest: number
}

export interface Indexed {
  readonly index: StreamIndex | null
  readonly faults: readonly LineFault[]
}

/** The maximum number of reported faults. */
export const MOST_FAULTS = 100

interface Indexing {
  readonly model: Model
  readonly keys: KeyIndex
  readonly types: Map<ContentType, TypeIndex>
  readonly numbersOf: (type: ContentType) => RowNumbers
  readonly faults: LineFault[]
}

/** The numbers that documents of a type have taken. */
interface RowNumbers {
  readonly ids: IdSet
  readonly keys: IdSet
}

export interface Passing {
  /** Report and skip lines that are not documents. */
  readonly skipsInvalid: boolean
  /** Skipped lines. */
  readonly without: ReadonlySet<number>
}

/** Reads the file once: validates the header and the form of each line, and indexes the documents. */
export async function indexStream(
  path: string,
  model: Model,
  { skipsInvalid, without }: Passing,
): Promise<Indexed> {
  const hash = createHash('sha256')
  const indexing: Indexing = {
    model,
    keys: new KeyIndex(),
    types: new Map(),
    numbersOf: memoize(newNumbers),
    faults: [],
  }
  let header: Header | null = null
  for await (const line of readLines(path, bytes => void hash.update(bytes))) {
    if (!skipsInvalid && indexing.faults.length >= MOST_FAULTS) break
    if (header === null) {
      header = readHeader(line, indexing)
      if (header === null) break
    } else if (!without.has(line.number)) indexLine(line, header, indexing)
  }
  const { keys, types, faults } = indexing
  if (header === null || (faults.length > 0 && !skipsInvalid))
    return { index: null, faults: header || faults.length > 0 ? faults : [EMPTY] }
  const total = [...types.values()].reduce((sum, { documents }) => sum + documents, 0)
  const find = (type: ContentType, documentId: string) => keys.get(nameInStream(type, documentId))
  return { index: { header, digest: hash.digest('hex'), total, types, find }, faults }
}

const EMPTY: LineFault = { line: 1, about: null, message: 'the file is empty' }

function readHeader({ number, bytes }: StreamLine, { model, faults }: Indexing): Header | null {
  const header = parseHeader(bytes)
  const wrong = header.ok ? checkHeader(header.value, model) : header.reasons
  faults.push(...wrong.map(message => ({ line: number, about: null, message })))
  return header.ok && wrong.length === 0 ? header.value : null
}

function indexLine({ number: line, bytes }: StreamLine, header: Header, indexing: Indexing): void {
  const { model, faults } = indexing
  const streamed = parseLine(bytes)
  if (!streamed.ok) {
    for (const message of streamed.reasons) faults.push({ line, about: null, message })
    return
  }
  const { type: uid, documentId } = streamed.value
  const type = model.contentTypes.get(uid)
  if (!type || !Object.hasOwn(header.types, uid)) {
    const near = didYouMean(uid, Object.keys(header.types))
    faults.push({ line, about: null, message: `the first line describes no content-type \`${uid}\`${near}` })
    return
  }
  const message = add(type, streamed.value, indexing)
  if (message !== null) faults.push({ line, about: nameOf(type, documentId), message })
}

function add(type: ContentType, streamed: StreamedDocument, indexing: Indexing): string | null {
  const { keys, types } = indexing
  const before = types.get(type) ?? { documents: 0, numbered: true, highest: 0 }
  if (isOfProject(type)) return `documents of \`${type.key}\` come from project.yaml`
  if (type.kind === 'single' && before.documents > 0) return 'a single type has one document'
  const ids = streamed.versions.flatMap(({ id }) => id ?? [])
  const numbered = ids.length === streamed.versions.length
  const key = numbered ? (streamed.key ?? Math.min(...ids)) : 0
  const ordinal = before.documents + 1
  const name = nameInStream(type, streamed.documentId)
  const taken = takeNumbers(ids, key, indexing.numbersOf(type))
  if (taken !== null && keys.get(name) === undefined) return taken
  if (!keys.add(name, { ordinal, key })) return 'there is a line of this document already'
  types.set(type, {
    documents: ordinal,
    numbered: before.numbered && numbered,
    highest: Math.max(before.highest, key, ...ids),
  })
  return null
}

const newNumbers = (_: ContentType): RowNumbers => ({ ids: new IdSet(), keys: new IdSet() })

/** Takes the numbers of a document's rows. Two documents with one key would become one. Returns a message if one is taken. */
function takeNumbers(ids: readonly number[], key: number, numbers: RowNumbers): string | null {
  const twice = ids.find((id, index) => numbers.ids.has(id) || ids.indexOf(id) !== index)
  if (twice !== undefined) return `another version has the row id ${twice} already`
  if (key > 0 && numbers.keys.has(key)) return `another document has the key ${key} already`
  for (const id of ids) numbers.ids.add(id)
  if (key > 0) numbers.keys.add(key)
  return null
}

const isOfProject = ({ builtIn, key }: ContentType): boolean =>
  builtIn && (key === 'role' || key === 'locale')

/** Parses the header. Fails with every fault. */
function parseHeader(bytes: Buffer): Result<Header, string> {
  const body = parseJsonLine(bytes)
  if (!body.ok) return failed(...body.reasons.map(reason => `${reason}; ${NO_HEADER}`))
  const { plinth, format, types, components, passwords, locales } = body.value
  if (plinth !== 'documents') return failed(NO_HEADER)
  if (format !== FORMAT)
    return failed(
      `the stream has format ${JSON.stringify(format)}, and this version of Plinth reads ${FORMAT}`,
    )
  const isWhole =
    isBody(types) &&
    Object.values(types).every(isDescribedType) &&
    isBody(components) &&
    Object.values(components).every(isDescribed) &&
    typeof passwords === 'boolean' &&
    Array.isArray(locales)
  if (!isWhole)
    return failed(
      'the first line lacks `types`, `components`, `locales` or `passwords`, or they are not what they should be',
    )
  // Safe: every part was just validated.
  return ok(body.value as unknown as Header)
}

const NO_HEADER = 'a stream begins with the line of `plinth export` that says what its documents fit'

const isDescribed = (value: unknown): value is DescribedAttributes =>
  isBody(value) && Object.values(value).every(word => typeof word === 'string')

const isDescribedType = (value: unknown): value is DescribedType =>
  isBody(value) &&
  typeof value.draftAndPublish === 'boolean' &&
  typeof value.localized === 'boolean' &&
  isDescribed(value.attributes)

/** The mismatches between the stream's types and the project's, one sentence each. The project may have more attributes. */
function checkHeader({ types, components }: Header, model: Model): readonly string[] {
  const typeFaults = Object.entries(types).flatMap(([uid, described]) => {
    const type = model.contentTypes.get(uid)
    if (!type)
      return [`the project has no content-type \`${uid}\`${didYouMean(uid, model.contentTypes.keys())}`]
    const own = describeType(type)
    return [
      ...(['draftAndPublish', 'localized'] as const).flatMap(flag =>
        described[flag] === own[flag]
          ? []
          : [
              `\`${flag}\` of \`${type.key}\` is ${described[flag]} in the stream and ${own[flag]} in the project`,
            ],
      ),
      ...misfits(type.key, type, described.attributes),
    ]
  })
  const componentFaults = Object.entries(components).flatMap(([uid, described]) => {
    const component = model.components.get(uid)
    if (component) return misfits(uid, component, described)
    return [`the project has no component \`${uid}\`${didYouMean(uid, model.components.keys())}`]
  })
  return [...typeFaults, ...componentFaults]
}

function misfits(name: string, holder: Holder, described: DescribedAttributes): readonly string[] {
  const own = describeAttributes(holder)
  return Object.entries(described).flatMap(([attribute, word]) => {
    const ours = own[attribute]
    if (ours === undefined)
      return [
        `\`${name}\` has no attribute \`${attribute}\` (${word})${didYouMean(attribute, Object.keys(own))}`,
      ]
    return fits(word, ours)
      ? []
      : [`\`${name}.${attribute}\` is \`${word}\` in the stream and \`${ours}\` in the project`]
  })
}

/** Scalar values are converted individually; a list of components or links also accepts a single one. */
const fits = (word: string, ours: string): boolean =>
  word === ours || (isScalar(word) && isScalar(ours)) || `${word}[]` === ours || isWiderZone(word, ours)

const isScalar = (word: string): boolean =>
  word !== 'password' && !/^(component|zone|media|relation)\b/.test(word)

const isWiderZone = (word: string, ours: string): boolean =>
  word.startsWith('zone ') &&
  ours.startsWith('zone ') &&
  partsOf(word).every(component => partsOf(ours).includes(component))

const partsOf = (zone: string): readonly string[] => zone.slice('zone '.length).split(', ')
