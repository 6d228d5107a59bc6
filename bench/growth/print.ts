/** How many times as much. */
export const times = (now: number, then: number): string => `× ${(now / then).toFixed(2)}`

/** 1 k, 10 k, 1 M. */
export function short(count: number): string {
  if (count >= 1_000_000) return `${count / 1_000_000} M`
  return count >= 1000 ? `${count / 1000} k` : String(count)
}
