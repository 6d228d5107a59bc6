/**
 * Milliseconds after a signal during which it is ignored. npm passes on the signals that it gets, so one Ctrl-C at `npm start`
 * reaches the process twice: from the terminal and from npm.
 */
const REPETITION = 1_000

/** Calls `stop` at the first SIGTERM or SIGINT. The same signal later than its repetition by npm ends the process at once. */
export function onTermination(stop: () => void): void {
  for (const signal of ['SIGTERM', 'SIGINT'] as const)
    process.once(signal, () => {
      const ignore = () => {}
      process.on(signal, ignore)
      setTimeout(() => process.off(signal, ignore), REPETITION).unref()
      stop()
    })
}
