import { setTimeout as pause } from 'node:timers/promises'
import type { Result } from '../base/result.ts'
import type { OpeningFault, OpeningFaultKind } from '../database/connect/opening-fault.ts'
import type { Database } from '../database/database.ts'
import type { Project } from '../project/project.ts'
import { type DatabaseTerms, openProjectDatabase } from './open-project-database.ts'
import type { StartFault } from './start-fault.ts'

/** What may pass by itself: the server starts, a primary is being replaced, others end their connections. */
const PASSING: ReadonlySet<OpeningFaultKind> = new Set(['unreachable', 'readonly', 'full'])

/** Milliseconds between two tries: the first, and the longest. */
const FIRST = 250
const LONGEST = 2_000

/** Milliseconds after which the log repeats what is waited for. */
const REPEATED = 10_000

/** Opens the project's database; waits for one that is not there yet as long as `database.startTimeout` says. */
export async function awaitDatabase(
  project: Project,
  terms: DatabaseTerms,
): Promise<Result<Database, StartFault>> {
  const deadline = performance.now() + project.settings.database.startTimeout
  const tell = openTelling(terms, deadline)
  for (let delay = FIRST; ; delay = Math.min(LONGEST, delay * 2)) {
    const opened = await openProjectDatabase(project, terms)
    if (opened.ok) return opened
    const fault = passingFault(opened.reasons)
    if (!fault || performance.now() + delay > deadline) return opened
    tell(fault)
    await pause(delay)
  }
}

function passingFault(reasons: readonly StartFault[]): OpeningFault | undefined {
  const [reason] = reasons
  return reason?.kind === 'database' && PASSING.has(reason.fault.kind) ? reason.fault : undefined
}

function openTelling({ observe }: DatabaseTerms, deadline: number): (fault: OpeningFault) => void {
  let last: { readonly message: string; readonly at: number } | undefined
  return ({ message }) => {
    const now = performance.now()
    if (last?.message === message && now - last.at < REPEATED) return
    last = { message, at: now }
    observe({ event: 'database.awaited', message, milliseconds: deadline - now })
  }
}
