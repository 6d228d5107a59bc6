import { memoize } from '../base/memo.ts'
import type { ContentType } from '../model/model.ts'
import type { Storage, TypeTable } from '../model/storage.ts'
import type { WriteConditions } from '../query/command.ts'
import { quoteIdentifier as ident } from '../sql/identifier.ts'
import { type CachedTarget, cachedTargets } from './links/known-targets.ts'
import {
  type FoundTarget,
  type FoundTargets,
  findOne,
  refsIn,
  type TargetName,
} from './links/link-targets.ts'
import { assertionOfVisible } from './read/match-assertion.ts'
import { KEEPING_TARGETS } from './sql/look-ups.ts'
import { type Assertion, joinAssertions, SHORT_FORM_LIMIT } from './sql/print-changes.ts'
import type { SaveCommand } from './state/version-context.ts'
import type { GivenBody } from './values/given-body.ts'

/** Cached link targets, and an assertion that they are still valid. */
export interface OptimisticTargets {
  readonly targets: FoundTargets
  /** undefined: there are no targets. */
  readonly assertion: Assertion | undefined
}

export interface OptimisticOptions {
  readonly storage: Storage
  readonly defaultLocale: string
}

interface SaveInput {
  readonly command: SaveCommand
  readonly body: GivenBody
}

/** The cached targets of a body's links. null: a target is not cached, or not in the locale of the link. */
export function optimisticTargetsFor(
  { command, body }: SaveInput,
  options: OptimisticOptions,
): OptimisticTargets | null {
  if (body.faults.length > 0) return null
  const { type, locale, conditions } = command
  const source = { type, locale }
  const relied = new Map<ContentType, Map<number, CachedTarget>>()
  const named = new Map<TargetName, FoundTarget>()
  const find = (target: ContentType, ref: TargetName) => {
    const rows = cachedTargets(target, ref.by, options.storage)
    return { rows, found: findOne(ref, rows, { target, source, defaultLocale: options.defaultLocale }) }
  }
  for (const { target, ref } of refsIn(type, body.values)) {
    const { rows, found } = find(target, ref)
    if (!found) return null
    named.set(ref, found)
    const others = relied.get(target) ?? new Map<number, CachedTarget>()
    relied.set(target, others)
    // The row that an id names tells the document.
    const id = 'id' in ref.by ? ref.by.id : found.id
    for (const row of rows) if (row.id === found.id || row.id === id) others.set(row.id, row)
  }
  const targets: FoundTargets = (target, ref) => {
    // Each use of a position names its neighbour by a new object.
    const found = named.get(ref) ?? find(target, ref).found
    if (!found) throw new TypeError('a target that is not known')
    return found
  }
  const seen = visibilityOf(relied, conditions, options)
  if (seen === null) return null
  const areThere = relied.size === 0 ? undefined : assertionOf(relied, options.storage)
  return { targets, assertion: joinAssertions([areThere, ...seen]) }
}

/** Assertions that the caller sees the targets of partly visible types; null: the caller sees none, or they are too many for one statement. */
function visibilityOf(
  relied: CachedRows,
  { targets }: Pick<WriteConditions, 'targets'>,
  options: OptimisticOptions,
): readonly Assertion[] | null {
  const all: Assertion[] = []
  for (const [type, rows] of relied) {
    const visible = targets.get(type)
    if (!visible) continue
    if (visible.length === 0) return null
    const versions = new Map(Array.from(rows.values(), row => [`${row.locale} ${row.documentId}`, row]))
    for (const row of versions.values()) all.push(assertionOfVisible({ type, ...row }, visible, options))
  }
  return all.length > SHORT_FORM_LIMIT ? null : all
}

type CachedRows = ReadonlyMap<ContentType, ReadonlyMap<number, CachedTarget>>

/** Asserts that all cached rows still exist unchanged, and keeps them until the transaction ends. */
function assertionOf(relied: CachedRows, storage: Storage): Assertion {
  const all = Array.from(relied, ([type, rows]): CachedTable => {
    const table = storage.table(type)
    return { table: table.name, columns: columnsOf(table), rows: [...rows.values()] }
  })
  const count = all.reduce((sum, { rows }) => sum + rows.length, 0)
  if (count > SHORT_FORM_LIMIT)
    return { form: null, values: [], print: (_, values) => join(all, each => printList(each, values)) }
  let form = ''
  const values: (number | string | null)[] = []
  for (const { table, columns, rows } of all) {
    form += `${table} ${rows.length} `
    for (const row of rows) for (const [, , of] of columns) values.push(of(row))
  }
  return {
    form,
    values,
    print(own, printed) {
      const left = own.values()
      return join(all, each => printEach(each, () => printed.push(left.next().value ?? null)))
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
const columnsOf = memoize(({ id, documentId, key, locale }: TypeTable): readonly ComparedColumn[] => [
  [id, 'integer', row => row.id],
  [documentId, 'text', row => row.documentId],
  ...(key === id ? [] : [[key, 'integer', row => row.key] satisfies ComparedColumn]),
  ...(locale === null ? [] : [[locale, 'text', row => row.locale] satisfies ComparedColumn]),
])

/** `place`: appends the next value and returns its parameter number. */
function printEach({ table, columns, rows }: CachedTable, place: () => number): string {
  const isThere = () => {
    const same = columns.map(([column, type]) => `${ident(column)} = $${place()}::${type}`)
    return `EXISTS (SELECT FROM ${ident(table)} WHERE ${same.join(' AND ')} ${KEEPING_TARGETS})`
  }
  return rows.map(isThere).join(' AND ')
}

function printList({ table, columns, rows }: CachedTable, values: unknown[]): string {
  const lists = columns.map(([, type, of]) => `$${values.push(rows.map(of))}::${type}[]`)
  const same = columns.map(([column], index) => `t.${ident(column)} = w.c${index}`)
  const row = columns.map((_, index) => `c${index}`).join(', ')
  const wanted = `unnest(${lists.join(', ')}) AS w (${row})`
  return `NOT EXISTS (SELECT FROM ${wanted} WHERE NOT EXISTS (SELECT FROM ${ident(table)} t WHERE ${same.join(' AND ')} ${KEEPING_TARGETS}))`
}
