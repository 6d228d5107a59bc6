import type { DesiredValue, LinkTarget, Values } from '../documents/desired-state.ts'
import type { WriteTerms } from '../documents/rows/write-terms.ts'
import type { Path } from '../faults/diagnostic.ts'
import type { Attribute, ContentType, Holder, MediaAttribute, RelationAttribute } from '../model/model.ts'
import type { Storage } from '../model/storage.ts'
import { quoteIdentifier as name } from '../sql/identifier.ts'
import type { ImportedDocument } from './imported-document.ts'

export interface FoundLink {
  readonly attribute: RelationAttribute | MediaAttribute
  readonly target: LinkTarget
  /** Ends with the index of the link, also for a single one. */
  readonly path: Path
}

/** The links in values, including those of components. */
export function* linksIn(holder: Holder, values: Values, parent: Path = []): Generator<FoundLink> {
  for (const [key, value] of values) {
    if (value.kind === 'scalar') continue
    const attribute = holder.attributes.get(key)
    const path = [...parent, key]
    if (value.kind === 'components')
      for (const [index, { component, values: inner }] of value.items.entries())
        yield* linksIn(component, inner, isList(attribute) ? [...path, index] : path)
    else if (hasLinks(attribute))
      for (const [index, target] of value.targets.entries())
        yield { attribute, target, path: [...path, index] }
  }
}

const isList = (attribute: Attribute | undefined): boolean =>
  attribute?.kind === 'zone' || (attribute?.kind === 'component' && attribute.repeatable)

const hasLinks = (attribute: Attribute | undefined): attribute is RelationAttribute | MediaAttribute =>
  attribute?.kind === 'relation' || attribute?.kind === 'media'

/** All values of a document: those of its versions and those that locales share. */
export const partsOf = ({ versions, shared }: ImportedDocument): readonly Values[] => [
  ...new Set([...versions, ...shared.values()].map(({ values }) => values)),
]

/** The link to write; undefined: the link is removed. */
export type Relink = (
  holder: Holder,
  attribute: FoundLink['attribute'],
  target: LinkTarget,
) => LinkTarget | undefined

/** Replaces the links in values. */
export const relinked = (holder: Holder, values: Values, relink: Relink): Values =>
  new Map([...values].map(([key, value]) => [key, relinkedValue(holder, key, value, relink)]))

function relinkedValue(holder: Holder, key: string, value: DesiredValue, relink: Relink): DesiredValue {
  if (value.kind === 'components')
    return {
      kind: 'components',
      items: value.items.map(item => ({ ...item, values: relinked(item.component, item.values, relink) })),
    }
  const attribute = holder.attributes.get(key)
  if (value.kind !== 'links' || !hasLinks(attribute)) return value
  return { kind: 'links', targets: value.targets.flatMap(target => relink(holder, attribute, target) ?? []) }
}

/** Names of documents in a source, by type. */
export type DocumentNames = Map<ContentType, Set<string>>

/** The names of the documents and of all their link targets. */
export function namesIn(documents: Iterable<ImportedDocument>): DocumentNames {
  const names: DocumentNames = new Map()
  const add = (type: ContentType, called: string) => {
    const set = names.get(type) ?? new Set<string>()
    names.set(type, set.add(called))
  }
  for (const document of documents) {
    add(document.type, document.name)
    for (const values of partsOf(document))
      for (const { attribute, target } of linksIn(document.type, values))
        add(attribute.target, target.documentId)
  }
  return names
}

/** How a source names users. */
export type UserNaming = 'documentId' | 'username'

/** The column with the names of a source. Roles and locales have the same names in every database. */
export function namingColumn(type: ContentType, storage: Storage, users: UserNaming): string {
  if (type.builtIn && type.key === 'role') return storage.column(type, 'type')
  if (type.builtIn && type.key === 'locale') return storage.column(type, 'code')
  if (type.builtIn && type.key === 'user' && users === 'username') return storage.column(type, 'username')
  return storage.table(type).documentId
}

/** A document in the database. */
export interface ExistingDocument {
  readonly key: number
  readonly documentId: string
}

/** Finds a document by its name in the source. */
export type FindExisting = (type: ContentType, called: string) => ExistingDocument | undefined

/** Runs one statement per type. The document of a single type matches any name, because there is only one. */
export async function findExisting(
  names: DocumentNames,
  users: UserNaming,
  terms: WriteTerms,
): Promise<FindExisting> {
  const found = new Map<ContentType, ReadonlyMap<string, ExistingDocument>>()
  const reads = [...names].map(async ([type, called]) => {
    found.set(type, await readExisting(type, [...called], users, terms))
  })
  await Promise.all(reads)
  return (type, called) => {
    const documents = found.get(type)
    return type.kind === 'single' ? documents?.values().next().value : documents?.get(called)
  }
}

async function readExisting(
  type: ContentType,
  called: readonly string[],
  users: UserNaming,
  { transaction, storage }: WriteTerms,
): Promise<ReadonlyMap<string, ExistingDocument>> {
  const table = storage.table(type)
  const column = name(namingColumn(type, storage, users))
  const where = type.kind === 'single' ? '' : ` WHERE ${column} = ANY ($1::text[])`
  const { rows } = await transaction.run({
    name: `find ${type.pluralApiId} of an import`,
    text: `SELECT DISTINCT ${column}, ${name(table.key)}, ${name(table.documentId)} FROM ${name(table.name)}${where}`,
    values: where === '' ? [] : [called],
  })
  return new Map(
    rows.map(([found, key, documentId]) => [
      String(found),
      { key: Number(key), documentId: String(documentId) },
    ]),
  )
}
