import { didYouMean } from '../base/nearest.ts'
import { documentIdOf } from '../documents/rows/document-id.ts'
import { type Body, isBody } from '../documents/values/parse-item.ts'
import type { Diagnostic, Path } from '../faults/diagnostic.ts'
import type { Attribute, ContentType } from '../model/model.ts'
import type { YamlSource } from '../project/yaml/read-yaml.ts'
import type { ApplyMode, ContentEntry } from './content.ts'
import { diagnose } from './content.ts'

/** A document of a file before its values are parsed. */
export interface RawEntry extends ContentEntry {
  readonly body: Body
}

export interface ReadEntries {
  readonly entries: readonly RawEntry[]
  readonly faults: readonly Diagnostic[]
}

/** Reads the documents of one file: a list, or `{ on, documents }`. */
export function readEntries(type: ContentType, source: YamlSource): ReadEntries {
  const faults: Diagnostic[] = []
  const { on, list, path } = readHead(source, faults)
  const entries = list.flatMap((body, index) =>
    readEntry({ type, on, source, path: [...path, index] }, body, faults),
  )
  return {
    entries: numberAnonymous(type, entries),
    faults: [...faults, ...extraDocuments(type, entries), ...duplicates(entries)],
  }
}

interface FileHead {
  readonly on: ApplyMode
  readonly list: readonly unknown[]
  readonly path: Path
}

function readHead(source: YamlSource, faults: Diagnostic[]): FileHead {
  const { value } = source
  if (value === null) return { on: 'create', list: [], path: [] }
  if (Array.isArray(value)) return { on: 'create', list: value, path: [] }
  if (!isBody(value)) {
    faults.push(
      diagnose('bad-shape', 'expected a list of documents, or `on` and `documents`', { source, path: [] }),
    )
    return { on: 'create', list: [], path: [] }
  }
  for (const key of Object.keys(value)) {
    if (key === 'on' || key === 'documents') continue
    const near =
      didYouMean(key, ['on', 'documents']) || ': expected a list of documents, or `on` and `documents`'
    faults.push(
      diagnose('unknown-key', `unknown key \`${key}\`${near}`, { source, path: [key], atKey: true }),
    )
  }
  return { on: parseMode(value, source, faults), list: parseList(value, source, faults), path: ['documents'] }
}

function parseMode({ on }: Body, source: YamlSource, faults: Diagnostic[]): ApplyMode {
  if (on === undefined || on === 'create') return 'create'
  if (on !== 'sync')
    faults.push(diagnose('bad-value', '`on` is `create` or `sync`', { source, path: ['on'] }))
  return 'sync'
}

function parseList({ documents }: Body, source: YamlSource, faults: Diagnostic[]): readonly unknown[] {
  if (Array.isArray(documents)) return documents
  if (documents !== null && documents !== undefined)
    faults.push(diagnose('bad-shape', '`documents` is a list', { source, path: ['documents'] }))
  return []
}

const DOCUMENT_ID = /^[A-Za-z0-9_-]{1,64}$/

function readEntry(
  at: Omit<ContentEntry, 'name' | 'isDerived'>,
  body: unknown,
  faults: Diagnostic[],
): readonly RawEntry[] {
  if (!isBody(body)) {
    faults.push(diagnose('bad-shape', 'a document is a mapping of its attributes', at))
    return []
  }
  if (at.type.key === 'user' && at.type.builtIn) return readUser(at, body, faults)
  const input = body.documentId
  if (input === undefined) return [{ ...at, body, name: anonymousId(at.type, body), isDerived: true }]
  if (typeof input === 'string' && DOCUMENT_ID.test(input))
    return [{ ...at, body, name: input, isDerived: false }]
  const message = 'a documentId is 1 to 64 letters, digits, `_` or `-`'
  const quoted = typeof input === 'number' ? `${message}; put a number in quotes` : message
  faults.push(diagnose('bad-document-id', quoted, { ...at, path: [...at.path, 'documentId'] }))
  return []
}

/** Users are named by `username`. An invalid username is reported with the other attributes. */
function readUser(
  at: Omit<ContentEntry, 'name' | 'isDerived'>,
  body: Body,
  faults: Diagnostic[],
): readonly RawEntry[] {
  if ('documentId' in body) {
    const path = [...at.path, 'documentId']
    faults.push(
      diagnose('unknown-key', 'a user goes by `username`, not by a documentId', { ...at, path, atKey: true }),
    )
  }
  const name = typeof body.username === 'string' ? body.username : ''
  return [{ ...at, body, name, isDerived: false }]
}

/**
 * A stable id for a document without documentId, so that the next start recognises it. Derived from its uid, else from a
 * unique attribute, else from its first string. A single type has only one document.
 */
function anonymousId(type: ContentType, body: Body): string {
  if (type.kind === 'single') return documentIdOf(type.uid)
  const attributes = [...type.attributes.values()].filter(({ name }) => isKeyValue(body[name]))
  const identifying = attributes.find(isUid) ?? attributes.find(isUnique) ?? attributes.find(isText)
  return identifying === undefined
    ? documentIdOf(type.uid, 'all', JSON.stringify(body))
    : documentIdOf(type.uid, identifying.name, String(body[identifying.name]))
}

const isKeyValue = (value: unknown): boolean => typeof value === 'string' || typeof value === 'number'
const isUid = (attribute: Attribute): boolean => attribute.kind === 'scalar' && attribute.type === 'uid'
const isUnique = (attribute: Attribute): boolean => attribute.kind === 'scalar' && attribute.unique
const isText = (attribute: Attribute): boolean =>
  attribute.kind === 'scalar' && !attribute.system && attribute.type === 'string'

/** Appends a number to the ids of entries that derive the same id. */
function numberAnonymous(type: ContentType, entries: readonly RawEntry[]): readonly RawEntry[] {
  const seen = new Map<string, number>()
  return entries.map(entry => {
    if ('documentId' in entry.body || type.builtIn) return entry
    const count = seen.get(entry.name) ?? 0
    seen.set(entry.name, count + 1)
    return count === 0 ? entry : { ...entry, name: documentIdOf(entry.name, String(count)) }
  })
}

function extraDocuments(type: ContentType, entries: readonly RawEntry[]): readonly Diagnostic[] {
  if (type.kind !== 'single') return []
  return entries
    .slice(1)
    .map(entry =>
      diagnose('duplicate-document', `\`${type.key}\` is a single type: it has one document`, entry),
    )
}

function duplicates(entries: readonly RawEntry[]): readonly Diagnostic[] {
  const first = new Map<string, RawEntry>()
  return entries.flatMap(entry => {
    if (entry.name === '' || (!entry.type.builtIn && !('documentId' in entry.body))) return []
    const other = first.get(entry.name)
    if (!other) first.set(entry.name, entry)
    if (!other) return []
    const key = entry.type.builtIn ? 'username' : 'documentId'
    const related = { location: other.source.location([...other.path, key]), message: 'is the first one' }
    const spot = { ...entry, path: [...entry.path, key] }
    return [diagnose('duplicate-document', `there are two documents \`${entry.name}\``, spot, related)]
  })
}
