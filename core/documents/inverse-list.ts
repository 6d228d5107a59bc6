import type { ContentType, RelationAttribute } from '../model/model.ts'
import { quoteIdentifier as name } from '../sql/identifier.ts'
import { slotOf } from './write-links.ts'
import type { WriteTerms } from './write-terms.ts'
import type { LinkTarget } from './written.ts'

/** The document whose inverse relation is read: its draft where it has drafts. */
export interface InverseEnd {
  readonly type: ContentType
  readonly key: number
  readonly locale: string | null
}

/** Who links to a document now, in the order of its list: the drafts of owners that have drafts. */
export async function readInverseList(
  attribute: RelationAttribute,
  end: InverseEnd,
  terms: WriteTerms,
): Promise<readonly LinkTarget[]> {
  const { counterpart, target: owner } = attribute
  if (!counterpart) throw new TypeError(`${attribute.name} is an inverse of nothing`)
  const link = terms.storage.link(owner, counterpart.name)
  const table = terms.storage.table(owner)
  const namedStatus = !owner.draftAndPublish && end.type.draftAndPublish ? 'draft' : null
  const values: (string | number)[] = [end.key]
  const bind = (value: string): string => `$${values.push(value)}`
  const where: string[] = []
  const from = [`${name(table.name)} o`]
  let place: string
  if (link.kind === 'column') {
    const slot = slotOf(link, namedStatus)
    where.push(`o.${name(slot.key)} = $1`)
    if (slot.locale !== null && end.locale !== null)
      where.push(`o.${name(slot.locale)} = ${bind(end.locale)}`)
    place = link.inversePosition === null ? 'o.id' : `o.${name(link.inversePosition)}`
  } else {
    const on = link.owner.map(([column, own]) => `l.${name(column)} = o.${name(own)}`)
    from.push(`JOIN ${name(link.table)} l ON ${on.join(' AND ')}`)
    where.push(`l.${name(link.targetKey)} = $1`)
    if (link.targetStatus !== null && namedStatus !== null)
      where.push(`l.${name(link.targetStatus)} = ${bind(namedStatus)}`)
    if (link.targetLocale !== null && end.locale !== null)
      where.push(`l.${name(link.targetLocale)} = ${bind(end.locale)}`)
    place = link.inversePosition === null ? 'l.id' : `l.${name(link.inversePosition)}`
  }
  if (table.status !== null) where.push(`o.${name(table.status)} = 'draft'`)
  if (table.locale !== null && end.locale !== null)
    where.push(`o.${name(table.locale)} = ${bind(end.locale)}`)
  const locale = table.locale !== null && !end.type.localized ? `o.${name(table.locale)}` : 'NULL'
  const { rows } = await terms.transaction.run({
    name: `read ${attribute.name} to write`,
    text: `SELECT o.${name(table.key)}, ${locale} FROM ${from.join(' ')} WHERE ${where.join(' AND ')} ORDER BY ${place}, o.id`,
    values,
  })
  return rows.map(([key, code]) => ({
    documentId: '',
    key: Number(key),
    locale: typeof code === 'string' ? code : null,
    status: null,
  }))
}
