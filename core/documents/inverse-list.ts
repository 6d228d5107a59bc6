import type { Attribute, ContentType, RelationAttribute } from '../model/model.ts'
import type { Storage } from '../model/storage.ts'
import type { Status } from '../query/query.ts'
import { quoteIdentifier as name } from '../sql/identifier.ts'
import type { Statement } from '../sql/statement.ts'
import { slotOf } from './write-links.ts'
import type { WriteTerms } from './write-terms.ts'
import type { LinkTarget } from './written.ts'

export const isInverse = (attribute: Attribute): attribute is RelationAttribute =>
  attribute.kind === 'relation' && attribute.side === 'inverse'

/** The version whose inverse relation is read. */
export interface InverseEnd {
  readonly type: ContentType
  readonly key: number
  readonly locale: string | null
  /** Counts for nothing on types without drafts. */
  readonly status: Status
}

/** Who links to a document now, in the order of its list: the owners' versions of the same status, or all where the document has no drafts. */
export async function readInverseList(
  attribute: RelationAttribute,
  end: InverseEnd,
  terms: WriteTerms,
): Promise<readonly LinkTarget[]> {
  const { rows } = await terms.transaction.run(toStatement(attribute, end, terms))
  return rows.map(([key, locale, status]) => ({
    documentId: '',
    key: Number(key),
    locale: typeof locale === 'string' ? locale : null,
    status: status === 'draft' || status === 'published' ? status : null,
  }))
}

/** What owners' rows are told by: alias and column, and the value. */
type Term = readonly [column: string, value: string | number]

function toStatement(attribute: RelationAttribute, end: InverseEnd, { storage }: WriteTerms): Statement {
  const owner = attribute.target
  const table = storage.table(owner)
  const { from, place, terms } = linkOf(attribute, end, storage)
  const all: readonly Term[] = [
    ...terms,
    ...termOf('o', table.status, end.type.draftAndPublish ? end.status : null),
    ...termOf('o', table.locale, end.locale),
  ]
  const locale = table.locale !== null && !end.type.localized ? column('o', table.locale) : 'NULL'
  const status = table.status !== null && !end.type.draftAndPublish ? column('o', table.status) : 'NULL'
  const where = all.map(([name], index) => `${name} = $${index + 1}`).join(' AND ')
  return {
    name: `read ${attribute.name} to write`,
    text: `SELECT ${column('o', table.key)}, ${locale}, ${status} FROM ${name(table.name)} o${from} WHERE ${where} ORDER BY ${place}, o.id`,
    values: all.map(([, value]) => value),
  }
}

const column = (alias: string, of: string): string => `${alias}.${name(of)}`

const termOf = (alias: string, of: string | null, value: string | number | null): readonly Term[] =>
  of === null || value === null ? [] : [[column(alias, of), value]]

interface LinkTerms {
  readonly from: string
  readonly place: string
  readonly terms: readonly Term[]
}

function linkOf(
  { name: own, counterpart, target }: RelationAttribute,
  end: InverseEnd,
  storage: Storage,
): LinkTerms {
  if (!counterpart) throw new TypeError(`${own} is an inverse of nothing`)
  const link = storage.link(target, counterpart.name)
  const status = !target.draftAndPublish && end.type.draftAndPublish ? end.status : null
  if (link.kind === 'column') {
    const slot = slotOf(link, status)
    const terms = [...termOf('o', slot.key, end.key), ...termOf('o', slot.locale, end.locale)]
    return { from: '', place: column('o', link.inversePosition ?? 'id'), terms }
  }
  const on = link.owner.map(([mine, theirs]) => `${column('l', mine)} = ${column('o', theirs)}`)
  return {
    from: ` JOIN ${name(link.table)} l ON ${on.join(' AND ')}`,
    place: column('l', link.inversePosition ?? 'id'),
    terms: [
      ...termOf('l', link.targetKey, end.key),
      ...termOf('l', link.targetStatus, status),
      ...termOf('l', link.targetLocale, end.locale),
    ],
  }
}
