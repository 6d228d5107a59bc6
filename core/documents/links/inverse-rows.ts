import type { Status } from '../../query/query.ts'
import { quoteIdentifier as name } from '../../sql/identifier.ts'
import type { ListView } from '../rows/link-order.ts'
import {
  and,
  columnOf,
  endOf,
  type InverseEnd,
  type InverseRelation,
  inSlot,
  inTable,
  ownedBy,
  type Parameters,
  reached,
  slotsOf,
} from './inverse-sql.ts'
import type { ListRows } from './list-bounds.ts'

/** Who links to a document, as a list. */
export function inverseRows(relation: InverseRelation, end: InverseEnd, view: ListView): ListRows {
  const { table, link, attribute, choosesStatus, sharesStatus, namesStatus } = relation
  const isMixed = sharesStatus && view.status === 'draft' && view.drafted !== null
  const status = !isMixed && (sharesStatus || namesStatus) ? view.status : null
  const rows = (parameters: Parameters, of: Status | null) => {
    const terms = { end: endOf(end, parameters), statuses: parameters.late(of, 'text') }
    const where = reached({ ...relation, sharesStatus: sharesStatus && of !== null }, 'o', terms)
    if (link.kind === 'table') {
      const leads = inTable({ ...relation, namesStatus: namesStatus && of !== null }, 'l', terms)
      return `FROM ${name(link.table)} l JOIN ${name(table.name)} o ON ${ownedBy(relation, 'l', 'o')} WHERE ${and(leads, ...where)}`
    }
    const slots = slotsOf(relation, link, of === null ? ['draft', 'published'] : [of])
    const leads = slots.map(slot => inSlot(slot, 'o', terms.end)).join(' OR ')
    return `FROM ${name(table.name)} o WHERE ${and(slots.length === 1 ? leads : `(${leads})`, ...where)}`
  }
  return {
    called: attribute.name,
    table: link.kind === 'table' ? link.table : table.name,
    alias: link.kind === 'table' ? 'l' : 'o',
    column: link.inversePosition ?? 'id',
    key: columnOf('o', table.key),
    from: parameters => rows(parameters, status),
    all: parameters => rows(parameters, null),
    seen(parameters) {
      if (table.status === null || view.drafted === null || !(isMixed || choosesStatus)) return ''
      const own = columnOf('o', table.status)
      const drafted = `${columnOf('o', table.key)} = ANY (${parameters.put(view.drafted, 'integer[]')})`
      return isMixed
        ? ` AND (CASE WHEN ${drafted} THEN ${own} = 'draft' ELSE ${own} = 'published' END)`
        : ` AND (${own} = 'published' OR ${drafted})`
    },
  }
}
