import type { DesiredValue, LinkTarget, Values } from '../../../core/documents/desired-state.ts'
import type { WriteTerms } from '../../../core/documents/rows/write-terms.ts'
import type { ContentType, Holder, MediaAttribute, RelationAttribute } from '../../../core/model/model.ts'
import type { Storage } from '../../../core/model/storage.ts'
import { quoteIdentifier as name } from '../../../core/sql/identifier.ts'
import type { ParsedDocument } from './parsed-document.ts'

/** The names of documents in a stream, by type. */
export type LinkNames = Map<ContentType, Set<string>>

/** The documents and all their link targets. */
export function namesIn(documents: readonly ParsedDocument[]): LinkNames {
  const names: LinkNames = new Map()
  const add = (type: ContentType, called: string) => {
    const set = names.get(type) ?? new Set<string>()
    names.set(type, set.add(called))
  }
  for (const document of documents) {
    add(document.type, document.documentId)
    for (const values of partsOf(document))
      for (const { attribute, target } of linksIn(document.type, values))
        add(attribute.target, target.documentId)
  }
  return names
}

export const partsOf = ({ versions, shared }: ParsedDocument): readonly Values[] => [
  ...versions.map(({ values }) => values),
  ...[...shared.values()].map(({ values }) => values),
]

export interface FoundLink {
  readonly attribute: RelationAttribute | MediaAttribute
  readonly target: LinkTarget
}

export function* linksIn(holder: Holder, values: Values): Generator<FoundLink> {
  for (const [name, value] of values) {
    if (value.kind === 'components')
      for (const { component, values: inner } of value.items) yield* linksIn(component, inner)
    const attribute = holder.attributes.get(name)
    if (value.kind !== 'links' || (attribute?.kind !== 'relation' && attribute?.kind !== 'media')) continue
    for (const target of value.targets) yield { attribute, target }
  }
}

/** The link to write; undefined: remove it. */
export type Relink = (holder: Holder, found: FoundLink) => LinkTarget | undefined

/** Replaces the links in values. */
export function relinked(holder: Holder, values: Values, relink: Relink): Values {
  return new Map([...values].map(([name, value]) => [name, relinkedValue(holder, name, value, relink)]))
}

function relinkedValue(holder: Holder, name: string, value: DesiredValue, relink: Relink): DesiredValue {
  if (value.kind === 'components')
    return {
      kind: 'components',
      items: value.items.map(item => ({ ...item, values: relinked(item.component, item.values, relink) })),
    }
  const attribute = holder.attributes.get(name)
  if (value.kind !== 'links' || (attribute?.kind !== 'relation' && attribute?.kind !== 'media')) return value
  return {
    kind: 'links',
    targets: value.targets.flatMap(target => relink(holder, { attribute, target }) ?? []),
  }
}

/** The names of documents in the stream. Roles and locales use their names in the project, which are the same in every database. */
export function namingColumn(type: ContentType, storage: Storage): string {
  if (type.builtIn && type.key === 'role') return storage.column(type, 'type')
  if (type.builtIn && type.key === 'locale') return storage.column(type, 'code')
  return storage.table(type).documentId
}

/** The keys of link targets, by type. */
export type Targets = Map<ContentType, Set<number>>

export function collectTargets(holder: Holder, values: Values, targets: Targets): void {
  for (const [attributeName, value] of values) {
    const attribute = holder.attributes.get(attributeName)
    if (value.kind === 'components')
      for (const item of value.items) collectTargets(item.component, item.values, targets)
    if (value.kind !== 'links' || (attribute?.kind !== 'relation' && attribute?.kind !== 'media')) continue
    const keys = targets.get(attribute.target) ?? new Set<number>()
    targets.set(attribute.target, keys)
    for (const { key } of value.targets) if (key !== undefined) keys.add(key)
  }
}

type NameOf = (type: ContentType, key: number) => string | undefined

/** One statement per type. */
export async function readNames(targets: Targets, terms: WriteTerms): Promise<NameOf> {
  const names = new Map<ContentType, ReadonlyMap<number, string>>()
  const reads = [...targets].map(async ([type, keys]) => {
    names.set(type, await readNamesOf(type, [...keys], terms))
  })
  await Promise.all(reads)
  return (type, key) => names.get(type)?.get(key)
}

async function readNamesOf(
  type: ContentType,
  keys: readonly number[],
  { transaction, storage }: WriteTerms,
): Promise<ReadonlyMap<number, string>> {
  if (keys.length === 0) return new Map()
  const table = storage.table(type)
  const { rows } = await transaction.run({
    name: `read names of ${type.pluralApiId}`,
    text: `SELECT DISTINCT ${name(table.key)}, ${name(namingColumn(type, storage))} FROM ${name(table.name)} WHERE ${name(table.key)} = ANY ($1::integer[])`,
    values: [keys],
  })
  return new Map(rows.map(([key, called]) => [Number(key), String(called)]))
}
