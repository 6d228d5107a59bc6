import type { Transaction } from '../database/database.ts'
import type { ContentDocument } from './content.ts'

/** Digests of the documents of content/ that were written, by type and name. */
export type AppliedDigests = ReadonlyMap<string, string>

type Runner = Pick<Transaction, 'run'>

const documentKey = (uid: string, name: string): string => JSON.stringify([uid, name])

/** The only statement of a start without changes in content/. */
export async function readAppliedDigests(runner: Runner): Promise<AppliedDigests> {
  const { rows } = await runner.run({
    name: 'read what content/ has written',
    text: 'SELECT "content_type", "document_id", "digest" FROM "plinth_content"',
    values: [],
  })
  return new Map(rows.map(([uid, name, digest]) => [documentKey(String(uid), String(name)), String(digest)]))
}

/** True if a document must be written: it is new, or it has changed in a file with `on: sync`. */
export function isDue({ type, name, on, digest }: ContentDocument, ledger: AppliedDigests): boolean {
  const written = ledger.get(documentKey(type.uid, name))
  return written === undefined || (on === 'sync' && written !== digest)
}

/** True if an entry was edited after it was written, in a file with `on: create`. */
export function hasUnappliedEdit(
  { type, name, on, digest }: ContentDocument,
  ledger: AppliedDigests,
): boolean {
  const written = ledger.get(documentKey(type.uid, name))
  return on === 'create' && written !== undefined && written !== digest
}

export async function recordApplied(
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
