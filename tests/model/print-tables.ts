import type { Check, Column, ForeignKey, Index, Table } from '../../core/model/storage.ts'

/** Tables as a person would note them down: the form of the golden files. */
export const printTables = (tables: readonly Table[]): string => `${tables.map(printTable).join('\n\n')}\n`

const printTable = (table: Table): string =>
  [
    `${table.name}: ${table.serves}${table.renamedFrom === undefined ? '' : `, was ${table.renamedFrom}`}`,
    ...table.columns.map(printColumn),
    `primary key (${table.primaryKey.join(', ')})`,
    ...table.indexes.map(printIndex),
    ...table.checks.map(printCheck),
    ...table.foreignKeys.map(printForeignKey),
  ].join('\n  ')

export function printColumn(column: Column): string {
  const { name, type, nullable, generated, backfill, renamedFrom, renamedValues } = column
  return [
    name,
    type,
    ...(nullable ? ['null'] : []),
    ...(generated === null ? [] : [generated]),
    ...(column.default === undefined ? [] : [`default ${column.default}`]),
    ...(backfill === undefined ? [] : [`backfill ${backfill}`]),
    ...(renamedFrom === undefined ? [] : [`was ${renamedFrom}`]),
    ...[...(renamedValues ?? [])].map(([from, to]) => `${from} → ${to}`),
  ].join(' ')
}

export function printIndex({ columns, unique, where }: Index): string {
  const rows =
    where === null
      ? ''
      : 'equals' in where
        ? ` where ${where.column} = ${where.equals}`
        : ` where ${where.column} is not null`
  return `${unique ? 'unique' : 'index'} (${columns.join(', ')})${rows}`
}

function printCheck({ column, rule, onlyWhen }: Check): string {
  const must = 'oneOf' in rule ? `in (${rule.oneOf.join(', ')})` : 'is not null'
  return `check ${column} ${must}${onlyWhen === null ? '' : ` where ${onlyWhen.column} = ${onlyWhen.equals}`}`
}

const printForeignKey = ({ columns, references, onDelete }: ForeignKey): string =>
  `(${columns.join(', ')}) of ${references.table} (${references.columns.join(', ')}), on delete ${onDelete}`
