import { failed, type Result } from '../base/result.ts'
import type { Database } from '../database/database.ts'
import type { DatabaseObservation } from '../database/observation.ts'
import { openDatabase } from '../database/open-database.ts'
import type { OpenOptions } from '../database/open-options.ts'
import type { Project } from '../project/project.ts'
import type { StartFault } from './start-fault.ts'

export type DatabaseTerms = Pick<OpenOptions, 'embedded' | 'mayBeStandby'> & {
  readonly observe: (observation: DatabaseObservation) => void
}

/** The connections that apps of this project work over, one after another. */
export async function openProjectDatabase(
  { root, settings }: Project,
  terms: DatabaseTerms,
): Promise<Result<Database, StartFault>> {
  const opened = await openDatabase(settings.database, { root, ...terms })
  return opened.ok
    ? opened
    : failed(...opened.reasons.map((fault): StartFault => ({ kind: 'database', fault })))
}
