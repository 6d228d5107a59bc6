import type { Transaction } from '../../../core/database/database.ts'
import type { LeftOut } from './import-terms.ts'

/** What an import decided when it began, and how far it has come. */
export interface Checkpoint {
  /** Of the stream. */
  readonly digest: string
  /** Lines that are done. */
  readonly done: number
  readonly decided: Decided
}

export interface Decided {
  /**
   * By uid: whether rows keep their numbers (`kept`), or the number that those of its documents come after. Absent: all
   * documents of the type were in the database, so that no number was reserved.
   */
  readonly keys: Readonly<Record<string, 'kept' | number>>
  /** By table: the place that those of the stream come after in lists of the other side. */
  readonly places: Readonly<Record<string, number>>
  /** Absent: nothing is. */
  readonly leftOut?: LeftOut
}

/** How many lines are done when an import begins: the first one is no document's. */
export const BEGINNING = 1

type Runner = Pick<Transaction, 'run'>

/** Imports that were not finished. */
export async function readCheckpoints(runner: Runner): Promise<readonly Checkpoint[]> {
  const { rows } = await runner.run({
    name: 'read unfinished imports',
    text: 'SELECT "digest", "done", "decided"::text FROM "plinth_imports" ORDER BY "begun_at"',
    values: [],
  })
  return rows.map(([digest, done, decided]) => ({
    digest: String(digest),
    done: Number(done),
    // What this room wrote itself.
    decided: JSON.parse(String(decided)) as Decided,
  }))
}

export async function writeCheckpoint(
  runner: Runner,
  { digest, done, decided }: Checkpoint,
  now: string,
): Promise<void> {
  await runner.run({
    name: 'begin an import',
    text: 'INSERT INTO "plinth_imports" ("digest", "done", "decided", "begun_at") VALUES ($1, $2, $3::jsonb, $4::timestamptz)',
    values: [digest, done, JSON.stringify(decided), now],
  })
}

/** false: somebody else has moved it meanwhile. Who else moves it waits until the transaction ends. */
export async function moveCheckpoint(
  runner: Runner,
  digest: string,
  { from, to }: { readonly from: number; readonly to: number },
): Promise<boolean> {
  const { count } = await runner.run({
    name: 'move on in an import',
    text: 'UPDATE "plinth_imports" SET "done" = $3 WHERE "digest" = $1 AND "done" = $2',
    values: [digest, from, to],
  })
  return count === 1
}

/** Keeps what is left out from now on. */
export async function keepLeftOut(runner: Runner, digest: string, leftOut: LeftOut): Promise<void> {
  await runner.run({
    name: 'leave documents out of an import',
    text: `UPDATE "plinth_imports" SET "decided" = jsonb_set("decided", '{leftOut}', $2::jsonb) WHERE "digest" = $1`,
    values: [digest, JSON.stringify(leftOut)],
  })
}

export async function removeCheckpoints(runner: Runner, digests: readonly string[]): Promise<void> {
  await runner.run({
    name: 'end imports',
    text: 'DELETE FROM "plinth_imports" WHERE "digest" = ANY ($1::text[])',
    values: [digests],
  })
}
