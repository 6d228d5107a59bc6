import type { ContentType, Holder } from '../model/model.ts'
import type { Storage, TypeTable } from '../model/storage.ts'
import { quoteIdentifier as name } from '../sql/identifier.ts'
import type { Values } from './desired-state.ts'
import { type KnownRow, rowsKnown } from './links/known-targets.ts'
import { type FoundTargets, findOne, type LinkSource, type Named, refsIn } from './links/link-targets.ts'
import { FEW, type Proof } from './sql/print-changes.ts'
import type { SaveCommand } from './state/version-context.ts'
import type { GivenBody } from './values/given-body.ts'

/** What links name as it was found before, and what tells whether it is still that. */
export interface Recalled {
  readonly targets: FoundTargets
  /** undefined: they name nothing. */
  readonly proof: Proof | undefined
}

export interface RecallTerms {
  readonly storage: Storage
  readonly defaultLocale: string
}

interface Given {
  readonly command: SaveCommand
  readonly body: GivenBody
}

/** What a body's links name, as it was found before; null: not all of it was, or its caller may not see all that there is. */
export function recallFor({ command, body }: Given, terms: RecallTerms): Recalled | null {
  const { type, locale, conditions } = command
  if (body.faults.length > 0 || conditions.targets.size > 0) return null
  return recallTargets(type, body.values, { type, locale }, terms)
}

/** null: something is named that was not found before, or not in the locale that the link would have. */
function recallTargets(
  holder: Holder,
  values: Values,
  source: LinkSource,
  terms: RecallTerms,
): Recalled | null {
  const relied = new Map<ContentType, Map<number, KnownRow>>()
  const find = (target: ContentType, ref: Named) => {
    const rows = 'documentId' in ref.by ? rowsKnown(target, ref.by.documentId, terms.storage) : []
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
  return { targets, proof: relied.size === 0 ? undefined : proofOf(relied, terms.storage) }
}

type Relied = ReadonlyMap<ContentType, ReadonlyMap<number, KnownRow>>

/** Whether every row is there as it was. */
function proofOf(relied: Relied, storage: Storage): Proof {
  const all = Array.from(relied, ([type, rows]): ReliedOf => {
    const table = storage.table(type)
    return { table: table.name, columns: columnsOf(table), rows: [...rows.values()] }
  })
  const count = all.reduce((sum, { rows }) => sum + rows.length, 0)
  if (count > FEW)
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

/** Rows of one table, and what tells each of them. */
interface ReliedOf {
  readonly table: string
  readonly columns: readonly ToldBy[]
  readonly rows: readonly KnownRow[]
}

const join = (all: readonly ReliedOf[], print: (each: ReliedOf) => string): string =>
  all.map(print).join(' AND ')

type ToldBy = readonly [
  column: string,
  type: 'integer' | 'text',
  of: (row: KnownRow) => number | string | null,
]

/** What tells a row, as it was. */
const columnsOf = ({ id, documentId, key, locale }: TypeTable): readonly ToldBy[] => [
  [id, 'integer', row => row.id],
  [documentId, 'text', row => row.documentId],
  ...(key === id ? [] : [[key, 'integer', row => row.key] satisfies ToldBy]),
  ...(locale === null ? [] : [[locale, 'text', row => row.locale] satisfies ToldBy]),
]

/** `place`: puts the next value in, and tells where. */
function printEach({ table, columns, rows }: ReliedOf, place: () => number): string {
  const isThere = () => {
    const same = columns.map(([column, type]) => `${name(column)} = $${place()}::${type}`)
    return `EXISTS (SELECT FROM ${name(table)} WHERE ${same.join(' AND ')})`
  }
  return rows.map(isThere).join(' AND ')
}

function printList({ table, columns, rows }: ReliedOf, values: unknown[]): string {
  const lists = columns.map(([, type, of]) => `$${values.push(rows.map(of))}::${type}[]`)
  const same = columns.map(([column], index) => `t.${name(column)} = w.c${index}`)
  const row = columns.map((_, index) => `c${index}`).join(', ')
  const wanted = `unnest(${lists.join(', ')}) AS w (${row})`
  return `NOT EXISTS (SELECT FROM ${wanted} WHERE NOT EXISTS (SELECT FROM ${name(table)} t WHERE ${same.join(' AND ')}))`
}
