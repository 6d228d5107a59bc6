/** Bounds the bytes that holders keep together. Above the bound, those that have held theirs longest give them up. */
export interface ByteBudget {
  /** `key`: what is held; it counts once if several hold it. `giveUp` is called at most once, and not after `release`. */
  hold(key: object, bytes: number, giveUp: () => void): HeldBytes
}

export interface HeldBytes {
  /** Further bytes. */
  add(bytes: number): void
  release(): void
}

interface Holder {
  readonly key: object
  readonly giveUp: () => void
}

interface Held {
  bytes: number
  holders: number
}

/** One holder alone may keep more than `most` bytes: other limits apply to it. */
export function openByteBudget(most: number): ByteBudget {
  const holders = new Set<Holder>()
  const keys = new Map<object, Held>()
  let total = 0
  const release = (holder: Holder) => {
    const held = keys.get(holder.key)
    if (!held || !holders.delete(holder)) return
    if (--held.holders > 0) return
    keys.delete(holder.key)
    total -= held.bytes
  }
  const makeRoom = () => {
    for (const oldest of holders) {
      if (total <= most || holders.size === 1) return
      release(oldest)
      oldest.giveUp()
    }
  }
  const add = ({ key }: Holder, bytes: number) => {
    const held = keys.get(key)
    if (!held) return
    held.bytes += bytes
    total += bytes
    makeRoom()
  }
  return {
    hold(key, bytes, giveUp) {
      const holder = { key, giveUp }
      const held = keys.get(key) ?? { bytes: 0, holders: 0 }
      held.holders++
      keys.set(key, held)
      holders.add(holder)
      if (held.holders === 1) add(holder, bytes)
      return { add: more => add(holder, more), release: () => release(holder) }
    },
  }
}

/** Bodies of requests that this process has received in part: 256 of the default `server.bodyLimit`. */
export const RECEIVING = openByteBudget(268_435_456)
