import type { Transaction } from '../database/database.ts'
import type { ContentDocument } from './content.ts'

/** What content/ has written: the digest of each document, by type and name. */
export type Ledger = ReadonlyMap<string, string>

type Runner = Pick<Transaction, 'run'>

const keyOf = (uid: string, name: string): string => JSON.stringify([uid, name])

/** One statement: all that a start costs when nothing in content/ has changed. */
export async function readLedger(runner: Runner): Promise<Ledger> {
  const { rows } = await runner.run({
    name: 'read what content/ has written',
    text: 'SELECT "content_type", "document_id", "digest" FROM "plinth_content"',
    values: [],
  })
  return new Map(rows.map(([uid, name, digest]) => [keyOf(String(uid), String(name)), String(digest)]))
}

/** Whether there is anything to do: what was written once is done, unless the file is kept in step and has changed. */
export function isDue({ type, name, on, digest }: ContentDocument, ledger: Ledger): boolean {
  const written = ledger.get(keyOf(type.uid, name))
  return written === undefined || (on === 'sync' && written !== digest)
}

/** Whether its entry was edited after it was written, in a file that does not keep it in step. */
export function isKept({ type, name, on, digest }: ContentDocument, ledger: Ledger): boolean {
  const written = ledger.get(keyOf(type.uid, name))
  return on === 'create' && written !== undefined && written !== digest
}

export async function recordWritten(
  runner: Runner,
  documents: readonly ContentDocument[],
  now: string,
): Promise<void> {
  const values = [
    documents.map(({ type }) => type.uid),
    documents.map(({ name }) => name),
    documents.map(({ digest }) => digest),
    now,
  ]
  await runner.run({
    name: 'record what content/ has written',
    text: `INSERT INTO "plinth_content" ("content_type", "document_id", "digest", "written_at")
      SELECT u, n, d, $4::timestamptz FROM unnest($1::text[], $2::text[], $3::text[]) AS t (u, n, d)
      ON CONFLICT ("content_type", "document_id") DO UPDATE SET "digest" = excluded."digest", "written_at" = excluded."written_at"`,
    values,
  })
}
