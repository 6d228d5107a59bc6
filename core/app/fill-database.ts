import { failed, ok, type Result } from '../base/result.ts'
import { writeContent } from '../content/write-content.ts'
import type { Database } from '../database/database.ts'
import type { Blueprint } from './compile-app.ts'
import type { StartFault } from './start-fault.ts'

export interface Filled {
  /** What was written, a sentence each. */
  readonly news: readonly string[]
}

/** Mirrors what other rows point at (roles, locales), then writes what is due of content/. */
export async function fillDatabase(
  { project, model, storage, content }: Blueprint,
  database: Database,
): Promise<Result<Filled, StartFault>> {
  const written = await writeContent(content, { database, model, storage, root: project.root })
  if (!written.ok) return failed({ kind: 'files', diagnostics: written.reasons })
  const counts = [...written.value.written].map(([uid, count]) => `${count} of ${uid}`)
  return ok({ news: counts.length === 0 ? [] : [`Wrote documents of content/: ${counts.join(', ')}`] })
}
