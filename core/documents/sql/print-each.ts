import type { ColumnType } from '../../model/storage.ts'
import { quoteIdentifier as name } from '../../sql/identifier.ts'
import { type Inserted, type Insertion, isTaken } from './printed-rows.ts'
import { type TableColumns, typeOf, valueType } from './write-print.ts'
import { GAP } from './write-rows.ts'

// A few new rows, each value a parameter: PostgreSQL keeps the plan of such a statement by itself, and reads no lists.

export function printEach(insertion: Insertion, types: TableColumns, values: unknown[]): string {
  const { table, columns } = insertion
  const rows = printRows(insertion, types, values).map(cells => cells.join(', '))
  const into = `INSERT INTO ${name(table)} (${columns.map(name).join(', ')})`
  const listed = rows.map(row => `(${row})`).join(', ')
  if (!insertion.rows.some(row => row.some(isTaken))) return `${into} VALUES ${listed}`
  return rows.length === 1
    ? `${into} SELECT ${rows[0]} FROM taken$`
    : `${into} SELECT v.* FROM taken$, LATERAL (VALUES ${listed}) AS v`
}

/** Versions of one document hold the same in most columns: that is one parameter. */
function printRows(
  { columns, rows }: Insertion,
  types: TableColumns,
  values: unknown[],
): readonly (readonly string[])[] {
  const first = rows[0] ?? []
  const document = columns.indexOf('document_id')
  const areVersions = document >= 0 && rows.every(row => row[document] === first[document])
  const ofFirst = columns.map((column, index) =>
    printCell(first[index] ?? null, typeOf(types, column), values),
  )
  return rows.map(row =>
    columns.map((column, index) => {
      const cell = row[index] ?? null
      const isSame = row === first || (areVersions && cell === (first[index] ?? null))
      return (isSame ? ofFirst[index] : undefined) ?? printCell(cell, typeOf(types, column), values)
    }),
  )
}

function printCell(cell: Inserted, type: ColumnType, values: unknown[]): string {
  if (!isTaken(cell)) return `$${values.push(cell)}::${valueType(type)}`
  return `taken$.ids[${cell.taken}]${type === 'double precision' ? ` * ${GAP}` : ''}`
}
