import { setTimeout as pause } from 'node:timers/promises'
import { failed, type Result } from '../base/result.ts'
import { unlessAborted } from '../base/with-timeout.ts'
import type { OpeningFault, OpeningFaultKind } from '../database/connect/opening-fault.ts'
import type { Database } from '../database/database.ts'
import { openDatabase } from '../database/open-database.ts'
import type { DatabaseObservation, OpenOptions } from '../database/open-options.ts'
import type { Project } from '../project/project.ts'
import type { StartFault } from './start-fault.ts'

/** Transient faults: the server is starting, a failover is in progress, all connections are in use. */
const TRANSIENT: ReadonlySet<OpeningFaultKind> = new Set(['unreachable', 'readonly', 'full'])

/** Milliseconds between two attempts, with exponential backoff. */
const MIN_DELAY = 250
const MAX_DELAY = 2_000

/** Milliseconds after which the same message is logged again. */
const LOG_INTERVAL = 10_000

export interface AwaitOptions extends ProjectDatabaseOptions {
  /** Aborts the wait, which rejects with the signal's reason. */
  readonly signal?: AbortSignal | undefined
  /** Called before each wait. */
  readonly onWait?: () => void
}

/** Opens the project's database. Retries transient faults for at most `database.startTimeout`. */
export async function awaitDatabase(
  project: Project,
  options: AwaitOptions,
): Promise<Result<Database, StartFault>> {
  const deadline = performance.now() + project.settings.database.startTimeout
  const log = openWaitLog(options, deadline)
  for (let delay = MIN_DELAY; ; delay = Math.min(MAX_DELAY, delay * 2)) {
    const opened = await openUnlessAborted(project, options)
    if (opened.ok) return opened
    const fault = transientFault(opened.reasons)
    if (!fault || performance.now() + delay > deadline) return opened
    log(fault)
    options.onWait?.()
    await pause(delay, undefined, { ...(options.signal && { signal: options.signal }) })
  }
}

/** Opening the embedded database is not abandoned: it has locked its files, which only its close unlocks. */
async function openUnlessAborted(
  project: Project,
  options: AwaitOptions,
): Promise<Result<Database, StartFault>> {
  const opening = openProjectDatabase(project, options)
  if (project.settings.database.url === 'embedded') return opening
  return unlessAborted(options.signal, opening).catch((error: unknown) => {
    // Closes a connection that opens after the abort.
    opening.then(
      late => (late.ok ? late.value.close() : undefined),
      () => undefined,
    )
    throw error
  })
}

function transientFault(reasons: readonly StartFault[]): OpeningFault | undefined {
  const [reason] = reasons
  return reason?.kind === 'database' && TRANSIENT.has(reason.fault.kind) ? reason.fault : undefined
}

function openWaitLog({ observe }: ProjectDatabaseOptions, deadline: number): (fault: OpeningFault) => void {
  let last: { readonly message: string; readonly at: number } | undefined
  return ({ message }) => {
    const now = performance.now()
    if (last?.message === message && now - last.at < LOG_INTERVAL) return
    last = { message, at: now }
    observe({ event: 'database.awaited', message, milliseconds: deadline - now })
  }
}

export type ProjectDatabaseOptions = Pick<OpenOptions, 'embedded' | 'mayBeStandby'> & {
  readonly observe: (observation: DatabaseObservation) => void
}

/** Opens the connection pool that all generations of the app share. */
export async function openProjectDatabase(
  { root, settings }: Project,
  options: ProjectDatabaseOptions,
): Promise<Result<Database, StartFault>> {
  const opened = await openDatabase(settings.database, { root, ...options })
  return opened.ok
    ? opened
    : failed(...opened.reasons.map((fault): StartFault => ({ kind: 'database', fault })))
}
