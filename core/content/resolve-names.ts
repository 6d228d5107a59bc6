import type { DesiredComponent, DesiredDocument, DesiredValue, Values } from '../documents/desired-state.ts'
import { documentIdOf } from '../documents/rows/document-id.ts'
import type { WriteTerms } from '../documents/rows/write-terms.ts'
import { generateUids } from '../documents/state/generate-uids.ts'
import { hashPasswords } from '../documents/values/hash-passwords.ts'
import type { ContentType, Holder, Model } from '../model/model.ts'
import { quoteIdentifier as name } from '../sql/identifier.ts'
import type { Content, ContentDocument } from './content.ts'
import type { ExistingVersions } from './find-existing.ts'
import { holdsPassword } from './parse-entry.ts'

/** Resolves a placeholder id; returns other ids unchanged. */
export type RealIds = (type: ContentType, documentId: string) => string

/**
 * Looks up the ids of users (by username), roles (by key) and single types that the documents refer to. One statement per
 * type.
 */
export async function findRealIds(
  documents: readonly DesiredDocument[],
  { model, content }: { readonly model: Model; readonly content: Content },
  terms: WriteTerms,
): Promise<RealIds> {
  const types = new Set(documents.flatMap(document => [document.type, ...targetTypes(document)]))
  const real = new Map<ContentType, ReadonlyMap<string, string>>()
  const { user, role } = model.builtIn
  for (const type of types) {
    if (type.kind === 'single') real.set(type, await singleIds(type, documents, terms))
    if (type === user) real.set(type, await userIds(type, content, terms))
    if (type === role) real.set(type, await roleIds(type, terms))
  }
  return (type, documentId) => real.get(type)?.get(documentId) ?? documentId
}

function* targetTypes({ type, versions }: DesiredDocument): Generator<ContentType> {
  for (const { values } of versions) yield* typesIn(type, values)
}

function* typesIn(holder: Holder, values: Values): Generator<ContentType> {
  for (const [key, value] of values) {
    const attribute = holder.attributes.get(key)
    if (attribute?.kind === 'relation' && value.kind === 'links' && value.targets.length > 0)
      yield attribute.target
    if (value.kind === 'components')
      for (const item of value.items) yield* typesIn(item.component, item.values)
  }
}

/** Links can only point to users of content/, so other users are not read. */
function userIds(type: ContentType, { documents }: Content, terms: WriteTerms) {
  const names = documents.filter(document => document.type === type).map(document => document.name)
  const column = name(terms.storage.column(type, 'username'))
  return idsByAttribute(type, 'username', {
    ...terms,
    where: ` WHERE ${column} = ANY ($1::text[])`,
    values: [names],
  })
}

const roleIds = (type: ContentType, terms: WriteTerms) =>
  idsByAttribute(type, 'type', { ...terms, where: '', values: [] })

interface IdTerms extends WriteTerms {
  readonly where: string
  readonly values: readonly unknown[]
}

async function idsByAttribute(
  type: ContentType,
  attribute: string,
  { transaction, storage, where, values }: IdTerms,
) {
  const table = storage.table(type)
  const { rows } = await transaction.run({
    name: `find ${type.pluralApiId} by ${attribute}`,
    text: `SELECT ${name(storage.column(type, attribute))}, ${name(table.documentId)} FROM ${name(table.name)}${where}`,
    values,
  })
  return new Map(rows.map(([word, id]) => [documentIdOf(type.key, String(word)), String(id)]))
}

/** All names of a single type's document resolve to the existing document. */
async function singleIds(
  type: ContentType,
  documents: readonly DesiredDocument[],
  { transaction, storage }: WriteTerms,
): Promise<ReadonlyMap<string, string>> {
  const table = storage.table(type)
  const { rows } = await transaction.run({
    name: `find the document of ${type.key}`,
    text: `SELECT ${name(table.documentId)} FROM ${name(table.name)} ORDER BY ${name(table.id)} LIMIT 1`,
    values: [],
  })
  const id = rows[0]?.[0]
  if (typeof id !== 'string') return new Map()
  const named = [...documents].flatMap(document => (document.type === type ? [document.documentId] : []))
  return new Map([...named, ...linkedNames(type, documents)].map(word => [word, id]))
}

/** Ids that links use for documents of the type. */
const linkedNames = (type: ContentType, documents: readonly DesiredDocument[]): readonly string[] =>
  documents.flatMap(document =>
    document.versions.flatMap(({ values }) => [...linksTo(type, document.type, values)]),
  )

function* linksTo(type: ContentType, holder: Holder, values: Values): Generator<string> {
  for (const [key, value] of values) {
    const attribute = holder.attributes.get(key)
    if (attribute?.kind === 'relation' && attribute.target === type && value.kind === 'links')
      for (const { documentId } of value.targets) yield documentId
    if (value.kind === 'components')
      for (const item of value.items) yield* linksTo(type, item.component, item.values)
  }
}

/** Replaces placeholder ids in a document and its links. */
export function withRealIds(document: DesiredDocument, real: RealIds): DesiredDocument {
  const { type, documentId, versions } = document
  return {
    type,
    documentId: real(type, documentId),
    versions: versions.map(version => ({ ...version, values: realValues(type, version.values, real) })),
  }
}

function realValues(holder: Holder, values: Values, real: RealIds): Values {
  return new Map([...values].map(([key, value]) => [key, realValue(holder, key, value, real)]))
}

function realValue(holder: Holder, key: string, value: DesiredValue, real: RealIds): DesiredValue {
  const attribute = holder.attributes.get(key)
  if (value.kind === 'links' && attribute?.kind === 'relation') {
    const { target } = attribute
    return {
      kind: 'links',
      targets: value.targets.map(each => ({ ...each, documentId: real(target, each.documentId) })),
    }
  }
  if (value.kind !== 'components') return value
  return {
    kind: 'components',
    items: value.items.map(
      (item): DesiredComponent => ({ ...item, values: realValues(item.component, item.values, real) }),
    ),
  }
}

interface PrepareDocumentsTerms {
  readonly real: RealIds
  readonly existing: ExistingVersions
  readonly terms: WriteTerms
}

export interface PreparedDocuments {
  readonly documents: readonly DesiredDocument[]
  /** Sources of the documents, by `sourceKey`. */
  readonly sources: ReadonlyMap<string, ContentDocument>
}

export const sourceKey = ({ type, documentId }: Pick<DesiredDocument, 'type' | 'documentId'>): string =>
  JSON.stringify([type.uid, documentId])

/** Prepares documents for writing: all values of new ones; of existing ones only the values that the file sets. */
export async function prepareDocuments(
  wanted: readonly ContentDocument[],
  preparing: PrepareDocumentsTerms,
): Promise<PreparedDocuments> {
  const { existing, terms } = preparing
  const prepared = wanted.map(source => ({ source, document: toDesiredDocument(source, preparing) }))
  const isNew = ({ type, documentId }: DesiredDocument) => !existing.has(type, documentId)
  const made = await hashPasswords(
    await generateUids(prepared.map(({ document }) => document).filter(isNew), terms),
  )
  const byKey = new Map(made.map(document => [sourceKey(document), document]))
  return {
    documents: prepared.map(({ document }) => byKey.get(sourceKey(document)) ?? document),
    sources: new Map(prepared.map(({ document, source }) => [sourceKey(document), source])),
  }
}

function toDesiredDocument(
  source: ContentDocument,
  { real, existing }: PrepareDocumentsTerms,
): DesiredDocument {
  const { type, documentId, versions } = withRealIds(source, real)
  return {
    type,
    documentId,
    versions: versions.map(({ locale, statuses, values }, index) => {
      const given = source.versions[index]?.given
      const isThere = existing.hasVersion(type, documentId, { locale, statuses })
      return { locale, statuses, values: isThere && given ? namedValues(type, values, given) : values }
    }),
  }
}

/** The values that the file sets, except passwords, which are set once. */
const namedValues = (type: ContentType, values: Values, given: ReadonlySet<string>): Values =>
  new Map([...values].filter(([name]) => given.has(name) && !holdsPassword(type, name)))
