import { qualified, quoteConstant } from '../../sql/ddl.ts'
import type { Statement } from '../../sql/statement.ts'
import type { Site } from '../run-ddl.ts'

// A generation is what a version of a project needs of the tables: the hash of schema-hash.ts. `plinth_generations`
// lists those that the tables suit now. A migration that an older version cannot live beside removes all but its own, in
// its transaction. Every statement of a process compares its generation with that table, so that an outdated process
// fails from the commit of the migration on.

/** The SQLSTATE of a statement whose generation the tables no longer suit. */
export const OUTDATED = 'PLG01'

/** The channel on which processes hear of a migration. */
export const GENERATION_CHANNEL = 'plinth_generation'

/** More versions that only added to the tables are not kept: the oldest of them becomes outdated. */
const KEPT = 32

export const printGenerations = (schema: string): readonly string[] => [
  `CREATE TABLE IF NOT EXISTS ${qualified(schema, 'plinth_generations')} (
  hash text PRIMARY KEY,
  opened_at timestamptz(3) NOT NULL DEFAULT clock_timestamp()
)`,
  // Volatile, so that it is not evaluated while a statement is planned; parallel safe, so that plans stay what they are.
  `CREATE OR REPLACE FUNCTION ${qualified(schema, 'plinth_outdated')}() RETURNS boolean LANGUAGE plpgsql VOLATILE PARALLEL SAFE AS ` +
    quoteConstant(
      `BEGIN RAISE EXCEPTION 'the tables were changed for another version of the project' USING ERRCODE = '${OUTDATED}'; END`,
    ),
]

/** SQL: whether the tables suit this generation. */
export const printIsCurrent = (schema: string, hash: string): string =>
  `EXISTS (SELECT FROM ${qualified(schema, 'plinth_generations')} WHERE hash = ${quoteConstant(hash)})`

/** A statement that fails where they do not. */
export const requireGeneration = (schema: string, hash: string): Statement => ({
  text: `SELECT CASE WHEN ${printIsCurrent(schema, hash)} THEN true ELSE ${qualified(schema, 'plinth_outdated')}() END`,
  values: [],
  name: 'require the generation of the tables',
  keepsPlan: true,
})

interface Move {
  readonly hash: string
  /** Whether processes of the generations before may go on. */
  readonly isOpen: boolean
}

/** Takes effect, and is announced, with the commit of the migration. */
export async function moveGenerations(
  { database: { schema }, transaction }: Site,
  { hash, isOpen }: Move,
): Promise<void> {
  const generations = qualified(schema, 'plinth_generations')
  const kept = isOpen
    ? `(SELECT hash FROM ${generations} ORDER BY opened_at DESC, hash LIMIT ${KEPT})`
    : '(SELECT NULL::text WHERE false)'
  await transaction.run({
    text: `DELETE FROM ${generations} WHERE hash <> $1 AND hash NOT IN ${kept}`,
    values: [hash],
    name: 'close generations',
  })
  await transaction.run({
    text: `INSERT INTO ${generations} (hash) VALUES ($1) ON CONFLICT (hash) DO UPDATE SET opened_at = excluded.opened_at`,
    values: [hash],
    name: 'open a generation',
  })
  // Its few rows are read by each statement: a scan of one page is cheaper than its index, which is taken without statistics.
  await transaction.run({ text: `ANALYZE ${generations}`, values: [] })
  await transaction.run({ text: 'SELECT pg_notify($1, $2)', values: [GENERATION_CHANNEL, schema] })
}
