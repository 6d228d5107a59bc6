export interface StallTerms {
  /** Milliseconds without an answer after which the worker counts as stalled; 0: never. */
  readonly timeout: number
  /** null: it has ended. */
  beat(): Promise<true | null>
  /** Called once. */
  stalled(): void
}

/** How often it is asked within the timeout, and missing answers that make a stall. */
const BEATS = 5

/**
 * Asks a worker again and again whether its event loop turns. Missed beats are counted instead of measured: a primary
 * process that stood still itself finds the answers waiting when it goes on. Answers a function that ends it.
 */
export function watchStalls({ timeout, beat, stalled }: StallTerms): () => void {
  if (timeout === 0) return () => {}
  let missed = 0
  const ask = async () => {
    if (await beat()) missed = 0
  }
  const timer = setInterval(() => {
    missed++
    if (missed === 1) void ask()
    if (missed <= BEATS) return
    clearInterval(timer)
    stalled()
  }, timeout / BEATS)
  return () => clearInterval(timer)
}
