import type { ContentType, Holder } from '../model/model.ts'
import type { Storage } from '../model/storage.ts'
import { quoteIdentifier as name } from '../sql/identifier.ts'
import type { GivenBody } from './given-body.ts'
import { type KnownRow, rowsKnown } from './known-targets.ts'
import { type FoundTargets, findOne, type LinkSource, type Named, refsIn } from './link-targets.ts'
import type { PrintCondition } from './print-changes.ts'
import type { SaveCommand } from './standing.ts'
import type { Values } from './written.ts'

/** What links name as it was found before, and what tells whether it is still that. */
export interface Recalled {
  readonly targets: FoundTargets
  /** undefined: they name nothing. */
  readonly proof: PrintCondition | undefined
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
  return { targets, proof: relied.size === 0 ? undefined : printThere(relied, terms.storage) }
}

type Relied = ReadonlyMap<ContentType, ReadonlyMap<number, KnownRow>>

/** Whether every row is there as it was. */
const printThere =
  (relied: Relied, storage: Storage): PrintCondition =>
  values =>
    Array.from(relied, ([type, rows]) => printRows(type, [...rows.values()], { storage, values })).join(
      ' AND ',
    )

function printRows(
  type: ContentType,
  rows: readonly KnownRow[],
  { storage, values }: { readonly storage: Storage; readonly values: unknown[] },
): string {
  const table = storage.table(type)
  const list = (of: readonly unknown[], cast: string) => `$${values.push(of)}::${cast}[]`
  const columns = [
    [
      table.id,
      list(
        rows.map(({ id }) => id),
        'integer',
      ),
    ],
    [
      table.documentId,
      list(
        rows.map(({ documentId }) => documentId),
        'text',
      ),
    ],
    [
      table.key,
      list(
        rows.map(({ key }) => key),
        'integer',
      ),
    ],
    ...(table.locale === null
      ? []
      : [
          [
            table.locale,
            list(
              rows.map(({ locale }) => locale),
              'text',
            ),
          ],
        ]),
  ]
  const same = columns.map(([column = ''], index) => `t.${name(column)} = w.c${index}`)
  const row = columns.map((_, index) => `c${index}`).join(', ')
  const wanted = `unnest(${columns.map(([, of]) => of).join(', ')}) AS w (${row})`
  return `NOT EXISTS (SELECT FROM ${wanted} WHERE NOT EXISTS (SELECT FROM ${name(table.name)} t WHERE ${same.join(' AND ')}))`
}
