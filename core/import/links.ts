import { didYouMean } from '../base/nearest.ts'
import type { DesiredValue, LinkTarget, Values } from '../documents/desired-state.ts'
import type { WriteTerms } from '../documents/rows/write-terms.ts'
import { GAP } from '../documents/sql/write-rows.ts'
import { type Body, isBody } from '../documents/values/parse-item.ts'
import type { ValueFault } from '../documents/values/value-fault.ts'
import type { Path } from '../faults/diagnostic.ts'
import type { Attribute, ContentType, Holder, MediaAttribute, RelationAttribute } from '../model/model.ts'
import type { Storage } from '../model/storage.ts'
import { quoteIdentifier as ident } from '../sql/identifier.ts'
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
  const column = ident(namingColumn(type, storage, users))
  const where = type.kind === 'single' ? '' : ` WHERE ${column} = ANY ($1::text[])`
  const { rows } = await transaction.run({
    name: `find ${type.pluralApiId} of an import`,
    text: `SELECT DISTINCT ${column}, ${ident(table.key)}, ${ident(table.documentId)} FROM ${ident(table.name)}${where}`,
    values: where === '' ? [] : [called],
  })
  return new Map(
    rows.map(([found, key, documentId]) => [
      String(found),
      { key: Number(key), documentId: String(documentId) },
    ]),
  )
}

export interface ParsedLink {
  /** undefined if there are faults. */
  readonly target: LinkTarget | undefined
  readonly faults: readonly ValueFault[]
}

interface LinkTerms {
  /** The keys that a link of the source may have. */
  readonly keys: readonly string[]
  /** Codes of the project's locales. */
  readonly locales: readonly string[]
}

/** Parses one link: the name of its target, or an object with more keys. */
export function parseLink(given: unknown, path: Path, terms: LinkTerms): ParsedLink {
  const body = isBody(given) ? given : { documentId: given }
  const faults = [...linkFaults(body, path, terms)]
  return { target: faults.length === 0 ? toTarget(body) : undefined, faults }
}

function* linkFaults(body: Body, path: Path, { keys, locales }: LinkTerms): Generator<ValueFault> {
  yield* unknownLinkKeys(body, path, keys)
  const { documentId, locale, status, order } = body
  if (typeof documentId === 'number')
    yield fault(path, `\`${documentId}\` is a number: put a documentId in quotes`)
  else if (typeof documentId !== 'string' || documentId === '')
    yield fault(path, 'expected a documentId, or a mapping with the key `documentId`')
  if (isSet(locale) && !(typeof locale === 'string' && locales.includes(locale)))
    yield fault([...path, 'locale'], unknownLocale(locale, locales))
  if (isSet(status) && status !== 'draft' && status !== 'published')
    yield fault([...path, 'status'], '`status` is `draft` or `published`')
  if (isSet(order) && !(typeof order === 'number' && Math.abs(order) < 1e12))
    yield fault([...path, 'order'], '`order` is a number below 10^12')
}

const isSet = (value: unknown): boolean => value !== undefined && value !== null

const fault = (path: Path, message: string): ValueFault => ({ kind: 'rule', path, message })

function unknownLocale(locale: unknown, locales: readonly string[]): string {
  if (typeof locale !== 'string') return `\`locale\` is one of ${locales.join(', ')}`
  return `unknown locale \`${locale}\`${didYouMean(locale, locales) || `: there are ${locales.join(', ')}`}`
}

/** The keys of a link that are not among these. */
export function* unknownLinkKeys(body: Body, path: Path, keys: readonly string[]): Generator<ValueFault> {
  for (const key of Object.keys(body))
    if (!keys.includes(key))
      yield { kind: 'key', path: [...path, key], message: `unknown key \`${key}\`${didYouMean(key, keys)}` }
}

const toTarget = ({ documentId, locale, status, order }: Body): LinkTarget => ({
  documentId: String(documentId),
  locale: typeof locale === 'string' ? locale : null,
  status: status === 'draft' || status === 'published' ? status : null,
  ...(typeof order === 'number' ? { inversePlace: order * GAP } : {}),
})
