// Tests state how much work something is by comparison with other work in the same process, never in milliseconds: a slow
// or shared processor delays both.

const KEYS = 20_000
const YARDSTICK = JSON.stringify(
  Object.fromEntries(Array.from({ length: KEYS }, (_, at) => [`key${at}`, { a: at, b: String(at) }])),
)
/** Four times the input may take this many times as long, and a yardstick more; quadratic work takes 16 times. */
export const GROWTH = 7
/** Yardsticks that no work on the largest input takes. Parsing and printing a body of 1 MB takes 1.5. */
export const MOST = 10
const TRIES = 20

/** Milliseconds of processor time of the whole process. */
export async function processorTime(work: () => unknown): Promise<number> {
  const began = process.cpuUsage()
  await work()
  const { user, system } = process.cpuUsage(began)
  return (user + system) / 1000
}

/** Milliseconds of processor time that parsing and printing 650 kB of JSON takes now. */
export async function yardstick(): Promise<number> {
  const once = () => processorTime(() => JSON.stringify(JSON.parse(YARDSTICK)))
  return Math.min(await once(), await once())
}

/** The first yardstick of the process: only a machine that is slower now is measured again. */
let first: number | undefined

/**
 * Runs the work for a quarter of the size and for all of it, until the second takes no longer than in proportion, and at most
 * so many yardsticks.
 */
export async function linearity(
  size: number,
  work: (size: number) => unknown,
  most = MOST,
): Promise<{ readonly isLinear: boolean; readonly times: string }> {
  const quarterSize = Math.ceil(size / 4)
  await work(quarterSize)
  first ??= await yardstick()
  let [quarter, all, isLinear] = [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY, false]
  for (let tries = 0; tries < TRIES && !isLinear; tries++) {
    quarter = await processorTime(() => work(quarterSize))
    all = await processorTime(() => work(size))
    const isWithin = (unit: number) => all < GROWTH * quarter + unit && all < most * unit
    isLinear = isWithin(first) || isWithin(await yardstick())
  }
  return { isLinear, times: `${quarterSize}: ${quarter} ms, ${size}: ${all} ms` }
}
