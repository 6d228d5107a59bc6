/** Milliseconds. */
const FIRST = 500
const LONGEST = 30_000

/** Milliseconds until the next try after so many that failed in a row: one that cannot start must not take the machine. */
export const delayAfter = (failures: number): number =>
  failures === 0 ? 0 : Math.min(LONGEST, FIRST * 2 ** (failures - 1))
