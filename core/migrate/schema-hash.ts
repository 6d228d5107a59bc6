import { createHash } from 'node:crypto'
import type { Column, Table } from '../model/storage.ts'
import { printSearchFunctions } from '../sql/search-ddl.ts'
import { printBootstrap } from './bootstrap.ts'
import type { CustomMigration } from './custom-migrations/custom-migration.ts'

/** Identifies the schema that the model needs: equal for equal tables, whatever else differs. */
export function hashSchema(
  schema: string,
  tables: readonly Table[],
  files: readonly CustomMigration[],
): string {
  const applied = files.map(({ name, checksum }) => [name, checksum])
  const bootstrap = [...printBootstrap(schema), ...printSearchFunctions(schema, tables, { trigrams: true })]
  const wanted = { bootstrap, tables: tables.map(withPlainColumns), applied }
  return createHash('sha256').update(JSON.stringify(wanted)).digest('hex')
}

const withPlainColumns = (table: Table): object => ({ ...table, columns: table.columns.map(toPlain) })

/** An attribute references the whole model, which is cyclic. Only its type is part of the hash. */
const toPlain = ({ attribute, renamedValues, ...column }: Column): object => ({
  ...column,
  kind: attribute?.kind === 'scalar' ? attribute.type : null,
  renamedValues: [...(renamedValues ?? [])],
})
