import { setTimeout as pause } from 'node:timers/promises'
import type { Result } from '../base/result.ts'
import { unlessAborted } from '../base/with-timeout.ts'
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

export interface AwaitTerms extends DatabaseTerms {
  /** Ends the wait: it rejects with the signal's reason. */
  readonly signal?: AbortSignal | undefined
  /** Called when it has to be waited for. */
  readonly waiting?: () => void
}

/** Opens the project's database; waits for one that is not there yet as long as `database.startTimeout` says. */
export async function awaitDatabase(
  project: Project,
  terms: AwaitTerms,
): Promise<Result<Database, StartFault>> {
  const deadline = performance.now() + project.settings.database.startTimeout
  const tell = openTelling(terms, deadline)
  for (let delay = FIRST; ; delay = Math.min(LONGEST, delay * 2)) {
    const opened = await openUnlessAborted(project, terms)
    if (opened.ok) return opened
    const fault = passingFault(opened.reasons)
    if (!fault || performance.now() + delay > deadline) return opened
    tell(fault)
    terms.waiting?.()
    await pause(delay, undefined, { ...(terms.signal && { signal: terms.signal }) })
  }
}

/** The embedded database is waited for: it has locked its files, which only its end unlocks. */
async function openUnlessAborted(project: Project, terms: AwaitTerms): Promise<Result<Database, StartFault>> {
  const opening = openProjectDatabase(project, terms)
  if (project.settings.database.url === 'embedded') return opening
  return unlessAborted(terms.signal, opening).catch((error: unknown) => {
    // A connection that comes too late is of no use.
    opening.then(
      late => (late.ok ? late.value.close() : undefined),
      () => undefined,
    )
    throw error
  })
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
