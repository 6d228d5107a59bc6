import { withTimeout } from '../base/with-timeout.ts'
import { openPresence, type Presence } from '../database/generations/presence.ts'
import type { Observer } from '../observe/observation.ts'
import type { App } from './open-app.ts'

interface ShowTerms {
  readonly deployment: string
  readonly log: Observer
  /** What it serves now. */
  current(): App
  /** Called when another process changed the tables so that this one can no longer serve. */
  outdated(): void
}

/** Milliseconds that a start waits until others can see this process: they would migrate without minding it. */
const PATIENCE = 2_000

/** Shows this process to others that migrate the same database, and hears of their migrations. */
export async function showProcess(
  { database, generation: { hash } }: App,
  { deployment, log, current, outdated }: ShowTerms,
): Promise<Presence> {
  let isBegun = false
  const check = async () => {
    if (!(await current().generation.check())) outdated()
  }
  const presence = openPresence(database, {
    hash,
    deployment,
    migrated: () => {
      if (isBegun) void check()
    },
    failed: message => log.emit({ kind: 'connectionLost', message }),
  })
  await withTimeout(PATIENCE, presence.begun, undefined)
  isBegun = true
  return presence
}
