/** The server that takes writes, as far as the connections to it know it: whichever of several servers it is now. */
export interface Primary {
  /** All that are open. */
  readonly connections: Set<{ _invalid?: boolean }>
  /** Grows where a standby is promoted (PostgreSQL manual, 26.3.5); 0: not known. */
  timeline: number
  /** False: the server refused to say it. */
  tellsTimeline: boolean
  /** When a statement was last answered, as of performance.now(). */
  heardAt: number
  /** When a connection of that timeline was last opened, as of performance.now(). */
  seenAt: number
}

export const openPrimary = (): Primary => ({
  connections: new Set(),
  timeline: 0,
  tellsTimeline: true,
  heardAt: 0,
  seenAt: 0,
})

/** Milliseconds without any answer after which a statement that was not answered in time says that the server is gone. */
const SILENCE = 1_000

/** Whether no connection had an answer of late: else a single statement took too long. */
export const isSilent = ({ heardAt }: Primary): boolean => performance.now() - heardAt > SILENCE

/**
 * The server failed a connection in a way that the others will meet, too: they are not used again. Those that are busy
 * end with what they do.
 */
export function suspect({ connections }: Primary): void {
  for (const connection of connections) connection._invalid = true
}
