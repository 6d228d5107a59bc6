import type { Database } from '../database/database.ts'
import { type AppliedFile, readApplied } from './custom-migration-record.ts'
import type { Handwritten } from './custom-migrations.ts'

/** How a file of migrations/ stands to a database. */
export interface FileStatus {
  readonly name: string
  /** `skipped`: the database was made when the file was there. `changed`, `missing`: since it was applied. */
  readonly state: 'applied' | 'skipped' | 'pending' | 'changed' | 'missing'
  /** ISO 8601, UTC; null: it is pending. */
  readonly appliedAt: string | null
}

/** Every file that is there or was applied, by name. */
export async function statusOf(
  database: Database,
  files: readonly Handwritten[],
): Promise<readonly FileStatus[]> {
  const applied = new Map((await readApplied(database, database.schema)).map(one => [one.name, one]))
  const there = new Map(files.map(file => [file.name, file]))
  const names = [...new Set([...applied.keys(), ...there.keys()])].toSorted()
  return names.map(name => {
    const done = applied.get(name)
    return { name, state: stateOf(done, there.get(name)), appliedAt: done?.appliedAt ?? null }
  })
}

function stateOf(done: AppliedFile | undefined, file: Handwritten | undefined): FileStatus['state'] {
  if (done === undefined) return 'pending'
  if (file === undefined) return 'missing'
  if (file.checksum !== done.checksum) return 'changed'
  return done.ran ? 'applied' : 'skipped'
}
