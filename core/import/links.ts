import { memoize } from '../base/memo.ts'
import { didYouMean, hintFor } from '../base/nearest.ts'
import type { DesiredValue, LinkTarget, Values } from '../documents/desired-state.ts'
import { lockSingle } from '../documents/read/matching.ts'
import type { LockingOptions } from '../documents/rows/write-options.ts'
import { KEEPING_TARGETS } from '../documents/sql/look-ups.ts'
import { GAP } from '../documents/sql/write-rows.ts'
import { type Body, isBody } from '../documents/values/parse-item.ts'
import { below, UNTRACKED, type ValueFault } from '../documents/values/value-fault.ts'
import type { Path } from '../faults/diagnostic.ts'
import type { Attribute, ContentType, Holder, MediaAttribute, RelationAttribute } from '../model/model.ts'
import type { Storage, TypeTable } from '../model/storage.ts'
import { quoteIdentifier as ident } from '../sql/identifier.ts'
import type { ImportedDocument } from './imported-document.ts'

export interface FoundLink {
  readonly attribute: RelationAttribute | MediaAttribute
  readonly target: LinkTarget
  /** Ends with the index of the link, also for a single one. */
  readonly path: Path
}

/** The links in values, including those of components, with their paths below `path`. */
export function linksIn(holder: Holder, values: Values, path: Path = []): readonly FoundLink[] {
  const found: FoundLink[] = []
  addLinks(holder, values, path, found)
  return found
}

function addLinks(holder: Holder, values: Values, parent: Path, found: FoundLink[]): void {
  for (const [key, value] of values) {
    if (value.kind === 'scalar') continue
    const attribute = holder.attributes.get(key)
    const path = below(parent, key)
    if (value.kind === 'components')
      for (const [index, { component, values: inner }] of value.items.entries())
        addLinks(component, inner, isList(attribute) ? below(path, index) : path, found)
    else if (hasLinks(attribute))
      for (const [index, target] of value.targets.entries())
        found.push({ attribute, target, path: below(path, index) })
  }
}

/** The links of all versions of a document, without their paths: several steps look at them. */
export const linksOf = memoize((document: ImportedDocument): readonly Omit<FoundLink, 'path'>[] =>
  partsOf(document).flatMap(values => linksIn(document.type, values, UNTRACKED)),
)

const isList = (attribute: Attribute | undefined): boolean =>
  attribute?.kind === 'zone' || (attribute?.kind === 'component' && attribute.repeatable)

const hasLinks = (attribute: Attribute | undefined): attribute is RelationAttribute | MediaAttribute =>
  attribute?.kind === 'relation' || attribute?.kind === 'media'

/** All values of a document: those of its versions and those that locales share. */
const partsOf = ({ versions, shared }: ImportedDocument): readonly Values[] => [
  ...new Set([...versions, ...shared.values()].map(({ values }) => values)),
]

/** The link to write; undefined: the link is removed. */
export type Relink = (
  holder: Holder,
  attribute: FoundLink['attribute'],
  target: LinkTarget,
) => LinkTarget | undefined

/** Replaces the links in values. Values without links are returned as they are. */
export function relinked(holder: Holder, values: Values, relink: Relink): Values {
  let changed: Map<string, DesiredValue> | undefined
  for (const [key, value] of values) {
    const linked = value.kind === 'scalar' ? value : relinkedValue(holder, key, value, relink)
    if (linked === value) continue
    changed ??= new Map(values)
    changed.set(key, linked)
  }
  return changed ?? values
}

function relinkedValue(holder: Holder, key: string, value: DesiredValue, relink: Relink): DesiredValue {
  if (value.kind === 'components') return relinkedItems(value, relink)
  const attribute = holder.attributes.get(key)
  if (value.kind !== 'links' || !hasLinks(attribute)) return value
  return { kind: 'links', targets: value.targets.flatMap(target => relink(holder, attribute, target) ?? []) }
}

function relinkedItems(
  value: Extract<DesiredValue, { readonly kind: 'components' }>,
  relink: Relink,
): DesiredValue {
  let isChanged = false
  const items = value.items.map(item => {
    const values = relinked(item.component, item.values, relink)
    if (values === item.values) return item
    isChanged = true
    return { ...item, values }
  })
  return isChanged ? { kind: 'components', items } : value
}

/** Names of documents in a source, by type. */
export type DocumentNames = Map<ContentType, Set<string>>

/** The names of the documents and of all their link targets. */
export function namesIn(documents: Iterable<ImportedDocument>): DocumentNames {
  const names: DocumentNames = new Map()
  const add = (type: ContentType, called: string) => {
    const set = names.get(type)
    if (set) set.add(called)
    else names.set(type, new Set([called]))
  }
  for (const document of documents) {
    add(document.type, document.name)
    for (const { attribute, target } of linksOf(document)) add(attribute.target, target.documentId)
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

/** Runs one statement per type, which locks what it finds against deletion. The document of a single type matches any name, because there is only one. */
export async function findExisting(
  names: DocumentNames,
  users: UserNaming,
  options: LockingOptions,
): Promise<FindExisting> {
  const found = new Map<ContentType, ReadonlyMap<string, ExistingDocument>>()
  const reads = [...names].map(async ([type, called]) => {
    found.set(type, await readExisting(type, [...called], users, options))
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
  { transaction, storage }: LockingOptions,
): Promise<ReadonlyMap<string, ExistingDocument>> {
  const table = storage.table(type)
  const column = namingColumn(type, storage, users)
  const columns = [column, table.key, table.documentId].map(ident).join(', ')
  const rowsOf = (where: string) =>
    `SELECT ${columns} FROM ${ident(table.name)}${where} ORDER BY ${ident(table.id)} ${KEEPING_TARGETS}`
  const read = () =>
    transaction.run({
      name: `find ${type.pluralApiId} of an import`,
      ...(type.kind === 'single'
        ? { text: rowsOf(''), values: [] }
        : { text: printSearch(rowsOf, column, table), values: [called] }),
    })
  let { rows } = await read()
  if (rows.length === 0 && type.kind === 'single') {
    // A request may create the document at this moment: its id is another one, so that no constraint would refuse the second.
    await lockSingle(type, { transaction })
    rows = (await read()).rows
  }
  return new Map(
    rows.map(([found, key, documentId]) => [
      String(found),
      { key: Number(key), documentId: String(documentId) },
    ]),
  )
}

/**
 * SQL that finds rows by names in a column. PostgreSQL keeps the plan that it makes while the table is empty: for a list of
 * names that is a scan of the whole table, for one name a look-up in the index, which only documentIds have. A LIMIT would
 * let it expect a scan to find the name soon.
 */
const printSearch = (rowsOf: (where: string) => string, column: string, table: TypeTable): string =>
  column === table.documentId
    ? `SELECT existing$.* FROM unnest($1::text[]) AS w$ (name), LATERAL (${rowsOf(` WHERE ${ident(column)} = w$.name`)} OFFSET 0) AS existing$`
    : rowsOf(` WHERE ${ident(column)} = ANY ($1::text[])`)

export interface ParsedLink {
  /** undefined if there are faults. */
  readonly target: LinkTarget | undefined
  readonly faults: readonly ValueFault[]
}

interface LinkOptions {
  /** The keys that a link of the source may have. */
  readonly keys: readonly string[]
  /** Codes of the project's locales. */
  readonly locales: readonly string[]
}

/** Parses one link: the name of its target, or an object with more keys. */
export function parseLink(input: unknown, path: Path, options: LinkOptions): ParsedLink {
  const body = isBody(input) ? input : { documentId: input }
  const faults = linkFaults(body, path, options)
  return { target: faults.length === 0 ? toTarget(body) : undefined, faults }
}

function linkFaults(body: Body, path: Path, { keys, locales }: LinkOptions): readonly ValueFault[] {
  const faults = unknownLinkKeys(body, path, keys)
  const { documentId, locale, status, order } = body
  if (typeof documentId === 'number')
    faults.push(fault(path, `\`${documentId}\` is a number: put a documentId in quotes`))
  else if (typeof documentId !== 'string' || documentId === '')
    faults.push(fault(path, 'expected a documentId, or a mapping with the key `documentId`'))
  if (isSet(locale) && !(typeof locale === 'string' && locales.includes(locale)))
    faults.push(fault(below(path, 'locale'), unknownLocale(locale, locales)))
  if (isSet(status) && status !== 'draft' && status !== 'published')
    faults.push(fault(below(path, 'status'), '`status` is `draft` or `published`'))
  if (isSet(order) && !(typeof order === 'number' && Math.abs(order) < 1e12))
    faults.push(fault(below(path, 'order'), '`order` is a number below 10^12'))
  return faults
}

const isSet = (value: unknown): boolean => value !== undefined && value !== null

const fault = (path: Path, message: string): ValueFault => ({ kind: 'rule', path, message })

function unknownLocale(locale: unknown, locales: readonly string[]): string {
  if (typeof locale !== 'string') return `\`locale\` is one of ${locales.join(', ')}`
  return `unknown locale \`${locale}\`${didYouMean(locale, locales) || `: there are ${locales.join(', ')}`}`
}

/** The keys of a link that are not among these. */
export function unknownLinkKeys(body: Body, path: Path, keys: readonly string[]): ValueFault[] {
  const faults: ValueFault[] = []
  for (const key of Object.keys(body))
    if (!keys.includes(key))
      faults.push({
        kind: 'key',
        path: below(path, key),
        message: `unknown key \`${key}\`${hintFor(key, keys)}`,
      })
  return faults
}

const toTarget = ({ documentId, locale, status, order }: Body): LinkTarget => ({
  documentId: String(documentId),
  locale: typeof locale === 'string' ? locale : null,
  status: status === 'draft' || status === 'published' ? status : null,
  ...(typeof order === 'number' ? { inversePlace: order * GAP } : {}),
})
