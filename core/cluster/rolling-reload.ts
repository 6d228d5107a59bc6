import { withTimeout } from '../base/with-timeout.ts'
import type { Observer } from '../observe/observation.ts'
import type { Post } from './worker-process.ts'
import type { Place } from './worker-slot.ts'

/** Reloads of all workers, of which one is under way at a time. */
export interface Rolling {
  /** Has all read the project's files again. Whether the first of them serves what they say. */
  reload(): Promise<boolean>
  /** Where this worker is the first to reload: has the others let new requests wait, until they have reloaded. */
  holdOthers(number: number): Promise<void>
}

/** Milliseconds that workers have to hold; each bounds itself. */
const HOLD_PATIENCE = 2_000

type Member = { readonly number: number; readonly post: Post }

export function openRolling(places: readonly Place[], observer: Observer): Rolling {
  let leader: Member | undefined
  let held: readonly Member[] = []
  return {
    async holdOthers(number) {
      if (number !== leader?.number) return
      held = membersOf(places).filter(other => other.number !== number && other.post.isServing())
      const holding = Promise.all(held.map(({ post }) => post.line.ask('hold')))
      await withTimeout<unknown>(HOLD_PATIENCE, holding, null)
    },
    async reload() {
      const [first, ...others] = membersOf(places)
      leader = first
      const isServed = first !== undefined && (await reloadOne(first)) === true
      leader = undefined
      const holding = held
      held = []
      if (!isServed) await Promise.all(holding.map(({ post }) => post.line.ask('release')))
      else await reloadRest({ others, isAtOnce: holding.length > 0, observer })
      return isServed
    },
  }
}

/** Those who take requests first: they find out whether the files can be served. */
function membersOf(places: readonly Place[]): readonly Member[] {
  const members = places.flatMap(place => {
    const post = place.current()
    return post ? [{ number: place.number, post }] : []
  })
  return members.toSorted((a, b) => Number(b.post.isServing()) - Number(a.post.isServing()))
}

/** One that begins may have read the files before they changed: its turn comes once it serves. */
const reloadOne = async ({ post }: Member): Promise<boolean | null> =>
  (await post.begun) ? post.line.ask('reload') : null

interface Rest {
  readonly others: readonly Member[]
  /** Instead of one after another: their requests wait for it. */
  readonly isAtOnce: boolean
  readonly observer: Observer
}

async function reloadRest({ others, isAtOnce, observer }: Rest): Promise<void> {
  const reload = async (member: Member) => {
    const isServed = await reloadOne(member)
    if (isServed === false) observer.emit({ kind: 'workerBehind', worker: member.number })
  }
  if (isAtOnce) await Promise.all(others.map(reload))
  else for (const member of others) await reload(member)
}
