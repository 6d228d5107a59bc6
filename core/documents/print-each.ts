import type { ColumnType } from '../model/storage.ts'
import { quoteIdentifier as name } from '../sql/identifier.ts'
import { type Inserted, type Insertion, isTaken, type Update } from './printed-rows.ts'
import { type TableColumns, type Tuples, typeOf, valueType } from './write-print.ts'
import { GAP } from './write-rows.ts'

// A few rows, each value a parameter: PostgreSQL keeps the plan of such a statement by itself, and reads no lists.

export function printInserts(insertion: Insertion, types: TableColumns, values: unknown[]): string {
  const { table, columns } = insertion
  const rows = printRows(insertion, types, values).map(cells => cells.join(', '))
  const into = `INSERT INTO ${name(table)} (${columns.map(name).join(', ')})`
  const listed = rows.map(row => `(${row})`).join(', ')
  if (!insertion.rows.some(row => row.some(isTaken))) return `${into} VALUES ${listed}`
  return rows.length === 1
    ? `${into} SELECT ${rows[0]} FROM taken`
    : `${into} SELECT v.* FROM taken, LATERAL (VALUES ${listed}) AS v`
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
  return `taken.ids[${cell.taken}]${type === 'double precision' ? ` * ${GAP}` : ''}`
}

export function printUpdates(update: Update, types: TableColumns, values: unknown[]): string {
  const { table, columns, keys } = update
  const rows = printRows(update, types, values)
  const [only = []] = rows
  const isOne = rows.length === 1
  const pairs = columns.map((column, index) => [column, isOne ? only[index] : `v.${name(column)}`] as const)
  const sets = pairs.slice(keys).map(([column, value]) => `${name(column)} = ${value}`)
  const where = pairs.slice(0, keys).map(([column, value]) => `t.${name(column)} = ${value}`)
  const listed = rows.map(row => `(${row.join(', ')})`).join(', ')
  const from = isOne ? '' : ` FROM (VALUES ${listed}) AS v (${columns.map(name).join(', ')})`
  return `UPDATE ${name(table)} AS t SET ${sets.join(', ')}${from} WHERE ${where.join(' AND ')}`
}

export function printDeletes(match: Tuples, types: TableColumns, values: unknown[]): string {
  const each = printRows(match, types, values).map(row =>
    match.columns.map((column, index) => `${name(column)} = ${row[index]}`).join(' AND '),
  )
  return `DELETE FROM ${name(match.table)} WHERE ${each.map(one => `(${one})`).join(' OR ')}`
}
