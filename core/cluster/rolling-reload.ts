import { withTimeout } from '../base/with-timeout.ts'
import type { Observer } from '../observe/observation.ts'
import type { WorkerProcess } from './worker-process.ts'
import type { WorkerSlot } from './worker-slot.ts'

/** Reloads the workers one after another. */
export interface RollingReload {
  /** Reloads all workers. Resolves to false if the first one cannot serve the new files; the others then keep the old version. */
  reload(): Promise<boolean>
  /** Called by the worker that reloads first: makes the others hold new requests until they have reloaded. */
  holdOthers(number: number): Promise<void>
}

/** Milliseconds to wait until all workers hold requests; each of them limits its hold itself. */
const HOLD_TIMEOUT = 2_000

type Member = { readonly number: number; readonly process: WorkerProcess }

export function openRollingReload(slots: readonly WorkerSlot[], observer: Observer): RollingReload {
  let leader: Member | undefined
  let held: readonly Member[] = []
  return {
    async holdOthers(number) {
      if (number !== leader?.number) return
      held = membersOf(slots).filter(other => other.number !== number && other.process.isServing())
      const holding = Promise.all(held.map(({ process }) => process.rpc.call('hold')))
      await withTimeout<unknown>(HOLD_TIMEOUT, holding, null)
    },
    async reload() {
      const [first, ...others] = membersOf(slots)
      leader = first
      const isServed = first !== undefined && (await reloadOne(first)) === true
      leader = undefined
      const holding = held
      held = []
      if (!isServed) await Promise.all(holding.map(({ process }) => process.rpc.call('release')))
      else await reloadRemaining({ others, isAtOnce: holding.length > 0, observer })
      return isServed
    },
  }
}

/** Serving workers first: the first one finds out whether the files can be served. */
function membersOf(slots: readonly WorkerSlot[]): readonly Member[] {
  const members = slots.flatMap(slot => {
    const process = slot.current()
    return process ? [{ number: slot.number, process }] : []
  })
  return members.toSorted((a, b) => Number(b.process.isServing()) - Number(a.process.isServing()))
}

/** A starting worker may have read the files before they changed, so it reloads when it serves. */
const reloadOne = async ({ process }: Member): Promise<boolean | null> =>
  (await process.begun) ? process.rpc.call('reload') : null

interface RemainingReload {
  readonly others: readonly Member[]
  /** All at once, because their requests are held. */
  readonly isAtOnce: boolean
  readonly observer: Observer
}

async function reloadRemaining({ others, isAtOnce, observer }: RemainingReload): Promise<void> {
  const reload = async (member: Member) => {
    const isServed = await reloadOne(member)
    if (isServed === false) observer.emit({ kind: 'workerBehind', worker: member.number })
  }
  if (isAtOnce) await Promise.all(others.map(reload))
  else for (const member of others) await reload(member)
}
