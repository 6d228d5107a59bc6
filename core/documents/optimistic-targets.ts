import type { ContentType, Holder } from '../model/model.ts'
import type { Storage, TypeTable } from '../model/storage.ts'
import { quoteIdentifier as ident } from '../sql/identifier.ts'
import type { Values } from './desired-state.ts'
import { type CachedTarget, cachedTargets } from './links/known-targets.ts'
import { type FoundTargets, findOne, type LinkSource, refsIn, type TargetName } from './links/link-targets.ts'
import { type Assertion, SHORT_FORM_LIMIT } from './sql/print-changes.ts'
import type { SaveCommand } from './state/version-context.ts'
import type { GivenBody } from './values/given-body.ts'

/** Cached link targets, and an assertion that they are still valid. */
export interface OptimisticTargets {
  readonly targets: FoundTargets
  /** undefined: there are no targets. */
  readonly assertion: Assertion | undefined
}

export interface OptimisticTerms {
  readonly storage: Storage
  readonly defaultLocale: string
}

interface SaveInput {
  readonly command: SaveCommand
  readonly body: GivenBody
}

/** The cached targets of a body's links. null: a target is not cached, or the caller's permissions restrict targets. */
export function optimisticTargetsFor(
  { command, body }: SaveInput,
  terms: OptimisticTerms,
): OptimisticTargets | null {
  const { type, locale, conditions } = command
  if (body.faults.length > 0 || conditions.targets.size > 0) return null
  return resolveFromCache(type, body.values, { type, locale }, terms)
}

/** null: a target is not cached, or not in the locale of the link. */
function resolveFromCache(
  holder: Holder,
  values: Values,
  source: LinkSource,
  terms: OptimisticTerms,
): OptimisticTargets | null {
  const relied = new Map<ContentType, Map<number, CachedTarget>>()
  const find = (target: ContentType, ref: TargetName) => {
    const rows = 'documentId' in ref.by ? cachedTargets(target, ref.by.documentId, terms.storage) : []
    return { rows, found: findOne(ref, rows, { target, source, defaultLocale: terms.defaultLocale }) }
  }
  for (const { target, ref } of refsIn(holder, values)) {
    const { rows, found } = find(target, ref)
    const row = rows.find(({ id }) => id === found?.id)
    if (!row) return null
    const others = relied.get(target)
    if (others) others.set(row.id, row)
    else relied.set(target, new Map([[row.id, row]]))
  }
  const targets: FoundTargets = (target, ref) => {
    const { found } = find(target, ref)
    if (!found) throw new TypeError('a target that is not known')
    return found
  }
  return { targets, assertion: relied.size === 0 ? undefined : assertionOf(relied, terms.storage) }
}

type CachedRows = ReadonlyMap<ContentType, ReadonlyMap<number, CachedTarget>>

/** Asserts that all cached rows still exist unchanged. */
function assertionOf(relied: CachedRows, storage: Storage): Assertion {
  const all = Array.from(relied, ([type, rows]): CachedTable => {
    const table = storage.table(type)
    return { table: table.name, columns: columnsOf(table), rows: [...rows.values()] }
  })
  const count = all.reduce((sum, { rows }) => sum + rows.length, 0)
  if (count > SHORT_FORM_LIMIT)
    return { form: null, values: [], print: (_, values) => join(all, each => printList(each, values)) }
  return {
    form: all.map(({ table, rows }) => `${table} ${rows.length}`).join(' '),
    values: all.flatMap(({ columns, rows }) => rows.flatMap(row => columns.map(([, , of]) => of(row)))),
    print(own, values) {
      const left = own.values()
      return join(all, each => printEach(each, () => values.push(left.next().value ?? null)))
    },
  }
}

/** Cached rows of one table, and the columns that identify them. */
interface CachedTable {
  readonly table: string
  readonly columns: readonly ComparedColumn[]
  readonly rows: readonly CachedTarget[]
}

const join = (all: readonly CachedTable[], print: (each: CachedTable) => string): string =>
  all.map(print).join(' AND ')

type ComparedColumn = readonly [
  column: string,
  type: 'integer' | 'text',
  of: (row: CachedTarget) => number | string | null,
]

/** The columns that identify a row, with their cached values. */
const columnsOf = ({ id, documentId, key, locale }: TypeTable): readonly ComparedColumn[] => [
  [id, 'integer', row => row.id],
  [documentId, 'text', row => row.documentId],
  ...(key === id ? [] : [[key, 'integer', row => row.key] satisfies ComparedColumn]),
  ...(locale === null ? [] : [[locale, 'text', row => row.locale] satisfies ComparedColumn]),
]

/** `place`: appends the next value and returns its parameter number. */
function printEach({ table, columns, rows }: CachedTable, place: () => number): string {
  const isThere = () => {
    const same = columns.map(([column, type]) => `${ident(column)} = $${place()}::${type}`)
    return `EXISTS (SELECT FROM ${ident(table)} WHERE ${same.join(' AND ')})`
  }
  return rows.map(isThere).join(' AND ')
}

function printList({ table, columns, rows }: CachedTable, values: unknown[]): string {
  const lists = columns.map(([, type, of]) => `$${values.push(rows.map(of))}::${type}[]`)
  const same = columns.map(([column], index) => `t.${ident(column)} = w.c${index}`)
  const row = columns.map((_, index) => `c${index}`).join(', ')
  const wanted = `unnest(${lists.join(', ')}) AS w (${row})`
  return `NOT EXISTS (SELECT FROM ${wanted} WHERE NOT EXISTS (SELECT FROM ${ident(table)} t WHERE ${same.join(' AND ')}))`
}
