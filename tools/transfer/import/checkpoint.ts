import { isRecord } from '../../../core/base/plain-data.ts'
import type { Transaction } from '../../../core/database/database.ts'
import type { PlaceOptions } from '../../../core/import/place.ts'
import type { ContentType } from '../../../core/model/model.ts'
import { quoteText } from '../../../core/sql/identifier.ts'
import type { StreamIndex } from '../index-stream.ts'
import { RecordFault } from '../stream-fault.ts'
import type { ImporterOptions, SkippedDocuments } from './import-options.ts'

/** The decisions and the progress of an import. */
export interface Checkpoint {
  /** The digest of the stream. */
  readonly digest: string
  /** The number of completed lines. */
  readonly done: number
  readonly decided: Decided
}

export interface Decided {
  /**
   * By uid: whether rows keep their numbers (`kept`), or the number before the first reserved one. Absent: all
   * documents of the type existed, so no number was reserved.
   */
  readonly keys: Readonly<Record<string, 'kept' | number>>
  /** By table: the position after which the stream's links are placed in lists of the other side. */
  readonly places: Readonly<Record<string, number>>
  /** Absent: nothing is skipped. The names are part of the stored JSON. */
  readonly leftOut?: SkippedDocuments
}

/** The key reserved for a new document; undefined: none. */
export function reservedKey(
  { decided, index }: { readonly decided: Decided; readonly index: StreamIndex },
  type: ContentType,
  name: string,
): number | undefined {
  const found = index.find(type, name)
  const base = decided.keys[type.uid]
  if (!found || base === undefined) return undefined
  return base === 'kept' ? found.key : base + found.ordinal
}

interface Placing extends Pick<PlaceOptions, 'existing'> {
  readonly decided: Decided
  readonly index: StreamIndex
  readonly options: Pick<ImporterOptions, 'model' | 'storage' | 'files'>
}

/** Places the stream's documents at their reserved keys. */
export const placeOptions = ({
  existing,
  options: { model, storage, files },
  ...reserved
}: Placing): PlaceOptions => ({
  ...{ model, storage, files, existing },
  identify(type, name) {
    const key = reservedKey(reserved, type, name)
    return key === undefined ? undefined : { documentId: name, key }
  },
  keepsRows: type => reserved.decided.keys[type.uid] === 'kept',
  listOffset: table => reserved.decided.places[table] ?? 0,
})

/** The initial number of completed lines: the first line is the header. */
export const BEGINNING = 1

type Runner = Pick<Transaction, 'run'>

/** Unfinished imports. */
export async function readCheckpoints(runner: Runner): Promise<readonly Checkpoint[]> {
  const { rows } = await runner.run({
    name: 'read unfinished imports',
    text: 'SELECT "digest", "done", "decided"::text FROM "plinth_imports" ORDER BY "begun_at"',
    values: [],
  })
  return rows.map(([digest, done, decided]) => ({
    digest: String(digest),
    done: Number(done),
    decided: parseDecided(String(digest), JSON.parse(String(decided))),
  }))
}

/** Throws a RecordFault if the record was changed by hand. */
function parseDecided(digest: string, decided: unknown): Decided {
  if (isRecord(decided) && isRecord(decided.keys) && isRecord(decided.places) && isSkipped(decided.leftOut))
    // Safe: this module wrote the value, and the parts that are used are there.
    return decided as unknown as Decided
  const message =
    'the record of an unfinished import in plinth_imports was changed by hand and cannot be continued. ' +
    `Remove it with: DELETE FROM plinth_imports WHERE digest = ${quoteText(digest)}; then import with --on-conflict update`
  throw new RecordFault(message)
}

const isSkipped = (value: unknown): boolean =>
  value === undefined || (isRecord(value) && Array.isArray(value.faults) && Array.isArray(value.refused))

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

/** Optimistic update; false: another process has moved the checkpoint. Locks it until the transaction ends. */
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

/** Stores the skipped documents in the checkpoint. */
export async function storeSkipped(runner: Runner, digest: string, skipped: SkippedDocuments): Promise<void> {
  await runner.run({
    name: 'store the skipped documents of an import',
    text: `UPDATE "plinth_imports" SET "decided" = jsonb_set("decided", '{leftOut}', $2::jsonb) WHERE "digest" = $1`,
    values: [digest, JSON.stringify(skipped)],
  })
}

export async function removeCheckpoints(runner: Runner, digests: readonly string[]): Promise<void> {
  await runner.run({
    name: 'end imports',
    text: 'DELETE FROM "plinth_imports" WHERE "digest" = ANY ($1::text[])',
    values: [digests],
  })
}

/**
 * Removes imports that have written nothing. The database decides that when it deletes: another process may have written a
 * batch since their checkpoint was read, and the links of that batch lead to numbers that only the checkpoint has.
 */
export async function removeUnstarted(runner: Runner, digests: readonly string[]): Promise<void> {
  await runner.run({
    name: 'abandon imports',
    text: 'DELETE FROM "plinth_imports" WHERE "digest" = ANY ($1::text[]) AND "done" = $2',
    values: [digests, BEGINNING],
  })
}
