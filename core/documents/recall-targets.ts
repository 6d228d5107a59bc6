import type { ContentType, Holder } from '../model/model.ts'
import type { Storage } from '../model/storage.ts'
import { quoteIdentifier as name } from '../sql/identifier.ts'
import type { Statement } from '../sql/statement.ts'
import { type KnownRow, rowsKnown } from './known-targets.ts'
import { type FoundTargets, findOne, type LinkSource, type Named, refsIn } from './link-targets.ts'
import type { Values } from './written.ts'

/** What links name as it was found before, and the statement that fails where it is another now. */
export interface Recalled {
  readonly targets: FoundTargets
  /** null: they name nothing. */
  readonly proof: Statement | null
}

export interface RecallTerms {
  readonly storage: Storage
  readonly defaultLocale: string
}

/** null: something is named that was not found before, or not in the locale that the link would have. */
export function recallTargets(
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
  return { targets, proof: relied.size === 0 ? null : printProof(relied, terms.storage) }
}

/** Divides by zero unless every row is there as it was. */
function printProof(
  relied: ReadonlyMap<ContentType, ReadonlyMap<number, KnownRow>>,
  storage: Storage,
): Statement {
  const values: unknown[] = []
  const list = (type: string, of: readonly unknown[]) => `$${values.push(of)}::${type}[]`
  const conditions = Array.from(relied, ([type, byId]) => {
    const table = storage.table(type)
    const rows = [...byId.values()]
    const columns = [
      [
        table.id,
        list(
          'integer',
          rows.map(({ id }) => id),
        ),
      ],
      [
        table.documentId,
        list(
          'text',
          rows.map(({ documentId }) => documentId),
        ),
      ],
      [
        table.key,
        list(
          'integer',
          rows.map(({ key }) => key),
        ),
      ],
      ...(table.locale === null
        ? []
        : [
            [
              table.locale,
              list(
                'text',
                rows.map(({ locale }) => locale),
              ),
            ],
          ]),
    ]
    const same = columns.map(([column = ''], index) => `t.${name(column)} = w.c${index}`)
    const aliases = columns.map((_, index) => `c${index}`)
    return (
      `NOT EXISTS (SELECT FROM unnest(${columns.map(([, of]) => of).join(', ')}) AS w (${aliases.join(', ')}) ` +
      `WHERE NOT EXISTS (SELECT FROM ${name(table.name)} t WHERE ${same.join(' AND ')}))`
    )
  })
  return {
    name: 'prove that what links name is there',
    text: `SELECT 1 / (${conditions.join(' AND ')})::integer`,
    values,
  }
}
