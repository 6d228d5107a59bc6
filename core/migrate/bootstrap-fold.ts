import type { Transaction } from '../database/database.ts'
import { qualified } from '../sql/ddl.ts'
import { quoteIdentifier as name } from '../sql/identifier.ts'

/** Collations whose lower() knows all of Unicode, best first: built in since PostgreSQL 17, ICU's, the C library's. */
const COLLATIONS = ['pg_c_utf8', 'und-x-icu', 'C.utf8', 'C.UTF-8', 'en_US.utf8', 'en_US.UTF-8'] as const

const UPPER = 'ÉÅŐŻЖΩ'
const LOWER = 'éåőżжω'

/**
 * SQL that makes `plinth_fold(text)`: lower-cases all of Unicode, whatever the database's locale. An immutable SQL
 * function of one expression, so that PostgreSQL inlines it. The expression is chosen once, when the function is
 * made. Where nothing in the database folds more than ASCII (no ICU, no UTF-8 locale), neither does the function.
 */
export async function createFold(transaction: Transaction, schema: string): Promise<string> {
  for (const expression of ['lower($1)', ...(await availableCollations(transaction)).map(withCollation)]) {
    if (await folds(transaction, expression)) return printFold(schema, expression)
  }
  return printFold(schema, 'lower($1)')
}

const withCollation = (collation: string): string => `lower($1 COLLATE pg_catalog.${name(collation)})`

const printFold = (schema: string, expression: string): string =>
  `CREATE FUNCTION ${qualified(schema, 'plinth_fold')}(text) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN ${expression}`

async function folds(transaction: Transaction, expression: string): Promise<boolean> {
  const text = `SELECT ${expression.replace('$1', '$1::text')} = $2`
  const { rows } = await transaction.run({ text, values: [UPPER, LOWER] })
  return rows[0]?.[0] === true
}

async function availableCollations(transaction: Transaction): Promise<readonly string[]> {
  const text = `SELECT collname FROM pg_collation WHERE collname = ANY ($1::name[]) AND collencoding IN
    (-1, (SELECT encoding FROM pg_database WHERE datname = current_database()))`
  const { rows } = await transaction.run({ text, values: [[...COLLATIONS]] })
  const there = new Set(rows.map(([collation]) => collation))
  return COLLATIONS.filter(collation => there.has(collation))
}
