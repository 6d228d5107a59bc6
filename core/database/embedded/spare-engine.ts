import type { PGlite } from '@electric-sql/pglite'

interface Spare {
  readonly postgres: PGlite
  readonly end: NodeJS.Timeout
}

let spare: Spare | undefined

/** Milliseconds that a spare engine waits for its next use: its own clock keeps the process from ending. */
const PATIENCE = 1_000

/** Keeps the engine of a database in memory that was closed: emptying it is ten times cheaper than making another. */
export async function keepSpare(postgres: PGlite): Promise<void> {
  if (spare) return postgres.close()
  const giveUp = () => {
    spare = undefined
    void postgres.close()
  }
  spare = { postgres, end: setTimeout(giveUp, PATIENCE) }
}

/** An empty database that another one was before; undefined: there is none, or it cannot be emptied. */
export async function takeSpare(): Promise<PGlite | undefined> {
  if (!spare) return undefined
  const { postgres, end } = spare
  clearTimeout(end)
  spare = undefined
  try {
    for (const statement of EMPTY) await postgres.exec(statement)
    return postgres
  } catch {
    // It holds too many tables to drop at once (one lock a table), or it is broken: it is not reused.
    await postgres.close()
    return undefined
  }
}

/** Gives up what the session holds, then everything that is not PostgreSQL's own; one by one, for DISCARD wants no transaction. */
const EMPTY = [
  'ROLLBACK',
  'DISCARD ALL',
  `DO $$
  DECLARE name text;
  BEGIN
    FOR name IN SELECT nspname FROM pg_namespace WHERE nspname !~ '^pg_' AND nspname <> 'information_schema' LOOP
      EXECUTE format('DROP SCHEMA %I CASCADE', name);
    END LOOP;
  END $$`,
  'CREATE SCHEMA public',
]
