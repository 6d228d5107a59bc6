import { qualified, quoteConstant } from '../sql/ddl.ts'
import { EVERY_TABLE } from '../sql/print-versions.ts'

/** Free space in each page keeps updates of version rows heap-only (HOT): they touch no index. */
export const printVersionsStorage = (schema: string): string =>
  `ALTER TABLE IF EXISTS ${qualified(schema, 'plinth_versions')} SET (fillfactor = 50)`

/** A renamed table keeps its version and never falls below a version that the new name had before. */
export function printVersionsCopy(schema: string, from: string, to: string): string {
  const versions = qualified(schema, 'plinth_versions')
  return (
    `INSERT INTO ${versions} AS held (table_name, shard, version) ` +
    `SELECT ${quoteConstant(to)}, shard, version + 1 FROM ${versions} WHERE table_name = ${quoteConstant(from)} ` +
    `ON CONFLICT (table_name, shard) DO UPDATE SET version = held.version + excluded.version`
  )
}

/** Schema changes advance the version that all tables share: triggers see changes of rows only. */
export function printVersionsMoved(schema: string): string {
  const versions = qualified(schema, 'plinth_versions')
  return (
    `INSERT INTO ${versions} AS held (table_name, shard, version) VALUES (${quoteConstant(EVERY_TABLE)}, 0, 1) ` +
    'ON CONFLICT (table_name, shard) DO UPDATE SET version = held.version + 1'
  )
}
