import type { Check, Column, Table } from '../../model/storage.ts'
import { qualified, quoteConstant } from '../../sql/ddl.ts'
import { quoteIdentifier as ident } from '../../sql/identifier.ts'
import { castOf } from './casts.ts'
import type { ActualColumn, ActualTable, Catalogue, OwnedParts } from './catalogue.ts'
import { CATALOGUE_TYPES } from './read-catalogue.ts'

/** A table of the model and its table in the database, which Plinth created and which may have its former name. */
export interface TablePair {
  readonly schema: string
  /** The schema of the extension pg_trgm, once it is installed. */
  readonly trigrams: string
  readonly desired: Table
  readonly actual: ActualTable
  /** The objects of the table that Plinth created. */
  readonly owned: OwnedParts
  /** By the column's name in the model; those that are not there yet are missing. */
  readonly columns: ReadonlyMap<string, ActualColumn>
  /** A table with more rows is not locked without being asked. */
  readonly manyRows: number
  /** Absent: the rows are not converted. */
  readonly reshape?: RowConversion
}

/** How existing rows are converted when their meaning changes (plan-reshape.ts). */
export interface RowConversion {
  /** The new values of columns, by name: SQL over the existing columns. */
  readonly fillings: ReadonlyMap<string, string>
  /** SQL over the existing columns: true for the rows that stay. */
  readonly rows: string
  /** Columns that are dropped because their values were moved elsewhere. */
  readonly moved: ReadonlySet<string>
}

/** The most rows that a start changes without confirmation; more would block writers for too long. */
export const MANY_ROWS = 1_000_000

export function toPair(
  { schema, trigrams, manyRows = MANY_ROWS }: Catalogue,
  desired: Table,
  actual: ActualTable,
  owned: OwnedParts,
): TablePair {
  const present = new Map(actual.columns.map(column => [column.name, column]))
  const desiredNames = new Set(desired.columns.map(column => column.name))
  const columns = desired.columns.flatMap((column): [string, ActualColumn][] => {
    const found = present.get(column.name) ?? formerOf(column, present, desiredNames)
    return found === undefined ? [] : [[column.name, found]]
  })
  return {
    schema,
    trigrams: trigrams.schema ?? schema,
    desired,
    actual,
    owned,
    columns: new Map(columns),
    manyRows,
  }
}

function formerOf(
  { renamedFrom }: Column,
  present: ReadonlyMap<string, ActualColumn>,
  desiredNames: ReadonlySet<string>,
): ActualColumn | undefined {
  return renamedFrom === undefined || desiredNames.has(renamedFrom) ? undefined : present.get(renamedFrom)
}

/** Translates names of columns in the database to those in the model. */
export function renamed(pair: TablePair, columns: readonly (string | null)[]): readonly (string | null)[] {
  const names = new Map([...pair.columns].map(([desiredNames, { name: actual }]) => [actual, desiredNames]))
  return columns.map(column => (column === null ? null : (names.get(column) ?? column)))
}

/**
 * SQL for the table's rows with the names and values that they will have after the migration. Preconditions are checked on
 * it before anything is changed.
 */
export const projection = (pair: TablePair): string => projectionOf(pair, filledValue)

/** The same before empty values get a backfill. */
export const unfilledProjection = (pair: TablePair): string => projectionOf(pair, valueAfter)

function projectionOf(pair: TablePair, print: (pair: TablePair, column: Column) => string): string {
  const { schema, desired, actual, reshape } = pair
  const values = desired.columns.map(column => `${print(pair, column)} AS ${ident(column.name)}`)
  const rows = reshape === undefined ? '' : ` WHERE ${reshape.rows}`
  return `(SELECT ${values.join(', ')} FROM ${qualified(schema, actual.name)}${rows}) AS future`
}

/** The value after empty ones got the backfill of an attribute that is required, or is for published rows. */
function filledValue(pair: TablePair, column: Column): string {
  const value = valueAfter(pair, column)
  if (column.backfill === undefined || !needsValue(pair, column)) return value
  const filled = `coalesce(${value}, ${quoteConstant(column.backfill)}::${column.type})`
  const onlyWhen = requiringCheck(pair, column)?.onlyWhen ?? null
  const condition = pair.desired.columns.find(({ name }) => name === onlyWhen?.column)
  if (onlyWhen === null || condition === undefined) return filled
  return `CASE WHEN ${valueAfter(pair, condition)} = ${quoteConstant(onlyWhen.equals)} THEN ${filled} ELSE ${value} END`
}

/** The check that requires the column's value. */
const requiringCheck = ({ desired }: TablePair, { name }: Column): Check | undefined =>
  desired.checks.find(({ column, rule }) => column === name && 'notNull' in rule)

/** True if empty values are refused, at least in published rows. */
const needsValue = (pair: TablePair, column: Column): boolean =>
  !column.nullable || requiringCheck(pair, column) !== undefined

/** True if empty values of an existing column get the attribute's backfill. */
export const isBackfilled = (pair: TablePair, column: Column): boolean =>
  column.backfill !== undefined && pair.columns.has(column.name) && needsValue(pair, column)

const valueAfter = ({ columns, reshape }: TablePair, column: Column): string =>
  reshape?.fillings.get(column.name) ?? valueIn(column, columns.get(column.name))

function valueIn(column: Column, actual: ActualColumn | undefined): string {
  if (actual === undefined) {
    const value = column.backfill ?? column.default
    return `${value === undefined ? 'NULL' : quoteConstant(value)}::${column.type}`
  }
  if (actual.type !== CATALOGUE_TYPES[column.type]) return converted(column, actual, ident(actual.name))
  return withNewValues(column, ident(actual.name))
}

/** True if the column's new type cannot represent some values of the former type. */
export const mayLose = (column: Column, actual: ActualColumn | undefined): actual is ActualColumn =>
  actual !== undefined &&
  actual.type !== CATALOGUE_TYPES[column.type] &&
  castOf(actual.type, column)?.keeps !== null

/** SQL that converts a value to the column's new type. A value that cannot be converted gets the attribute's backfill. */
export function converted(column: Column, actual: ActualColumn, value: string): string {
  const cast = castOf(actual.type, column)
  const converted = cast === null ? `NULL::${column.type}` : `(${cast.to(value)})::${column.type}`
  if (column.backfill === undefined || cast?.keeps === null) return converted
  return `CASE WHEN ${value} IS NOT NULL THEN coalesce(${converted}, ${quoteConstant(column.backfill)}::${column.type}) END`
}

/** The system column; an attribute may have its name where locales are off. */
export const columnOfLocales = ({ columns }: Table): Column | undefined =>
  columns.find(({ name, attribute }) => name === 'locale' && !attribute)

/** SQL of the locale of a row, by its new code. */
export const printNewLocale = ({ desired }: TablePair): string =>
  withNewValues(columnOfLocales(desired) ?? {}, 'locale')

export function withNewValues({ renamedValues }: Pick<Column, 'renamedValues'>, value: string): string {
  if (renamedValues === undefined || renamedValues.size === 0) return value
  const cases = [...renamedValues].map(
    ([from, to]) => `WHEN ${quoteConstant(from)} THEN ${quoteConstant(to)}`,
  )
  return `CASE ${value} ${cases.join(' ')} ELSE ${value} END`
}
