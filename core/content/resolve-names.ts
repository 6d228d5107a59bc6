import type { Values, WrittenComponent, WrittenDocument, WrittenValue } from '../documents/desired-state.ts'
import { documentIdOf } from '../documents/rows/document-id.ts'
import type { WriteTerms } from '../documents/rows/write-terms.ts'
import type { ContentType, Holder, Model } from '../model/model.ts'
import { quoteIdentifier as name } from '../sql/identifier.ts'
import type { Content } from './content.ts'

/** The real id of a document, for one that stands for it; the same where there is no other. */
export type RealIds = (type: ContentType, documentId: string) => string

/**
 * Users go by their names, roles by their keys, single types by themselves: what the database calls them is looked
 * up, one statement a type, where the documents to be written need it.
 */
export async function findRealIds(
  documents: readonly WrittenDocument[],
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

function* targetTypes({ type, versions }: WrittenDocument): Generator<ContentType> {
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

/** Links lead to users of content/ only, so the other users of the database are not read. */
function userIds(type: ContentType, { documents }: Content, terms: WriteTerms) {
  const names = documents.filter(document => document.type === type).map(document => document.name)
  const column = name(terms.storage.column(type, 'username'))
  return idsBy(type, 'username', { ...terms, where: ` WHERE ${column} = ANY ($1::text[])`, values: [names] })
}

const roleIds = (type: ContentType, terms: WriteTerms) =>
  idsBy(type, 'type', { ...terms, where: '', values: [] })

interface IdTerms extends WriteTerms {
  readonly where: string
  readonly values: readonly unknown[]
}

async function idsBy(type: ContentType, attribute: string, { transaction, storage, where, values }: IdTerms) {
  const table = storage.table(type)
  const { rows } = await transaction.run({
    name: `find ${type.pluralApiId} by ${attribute}`,
    text: `SELECT ${name(storage.column(type, attribute))}, ${name(table.documentId)} FROM ${name(table.name)}${where}`,
    values,
  })
  return new Map(rows.map(([word, id]) => [documentIdOf(type.key, String(word)), String(id)]))
}

/** Whatever the file calls the document of a single type, it is the one that is there. */
async function singleIds(
  type: ContentType,
  documents: readonly WrittenDocument[],
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
  return new Map([...named, ...wordsFor(type, documents)].map(word => [word, id]))
}

/** What links call a document of the type. */
const wordsFor = (type: ContentType, documents: readonly WrittenDocument[]): readonly string[] =>
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

/** The document with real ids in all its links. */
export function withRealIds(document: WrittenDocument, real: RealIds): WrittenDocument {
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

function realValue(holder: Holder, key: string, value: WrittenValue, real: RealIds): WrittenValue {
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
      (item): WrittenComponent => ({ ...item, values: realValues(item.component, item.values, real) }),
    ),
  }
}
