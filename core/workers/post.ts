import type { Worker } from 'node:cluster'
import { channelTo, type Line, openLine } from './line.ts'
import type { ToPrimary, ToWorker } from './questions.ts'

/** How a process ended. */
export interface Ending {
  /** `exit code 1`, `SIGKILL` */
  readonly why: string
  /** Its exit code; 1 where it has none. */
  readonly code: number
  /** Milliseconds that it took requests. */
  readonly served: number
}

/** One worker process, from its start to its end. */
export interface Post {
  readonly pid: number
  readonly line: Line<ToWorker>
  /** Whether it came to take requests. */
  readonly begun: Promise<boolean>
  readonly ended: Promise<Ending>
  /** It takes requests. */
  isServing(): boolean
  kill(signal: NodeJS.Signals): void
}

export function openPost(worker: Worker, answers: ToPrimary): Post {
  let servesSince: number | null = null
  let begin: (serves: boolean) => void = () => {}
  let end: (ending: Ending) => void = () => {}
  const begun = new Promise<boolean>(resolve => {
    begin = resolve
  })
  const ended = new Promise<Ending>(resolve => {
    end = resolve
  })
  const line = openLine<ToWorker, ToPrimary>(channelTo(worker), {
    ...answers,
    async serving(about) {
      servesSince = performance.now()
      await answers.serving(about)
      begin(true)
    },
  })
  onEnd(worker, (why, code) => {
    const served = servesSince === null ? 0 : performance.now() - servesSince
    servesSince = null
    line.hangUp()
    begin(false)
    end({ why, code, served })
  })
  return {
    pid: worker.process.pid ?? 0,
    line,
    begun,
    ended,
    isServing: () => servesSince !== null,
    kill: signal => void worker.process.kill(signal),
  }
}

/**
 * Of a process that could not even be made there is no exit. Errors of one that runs, such as a message to it that could
 * not be written, come before its exit; cluster repeats each of them on the worker.
 */
function onEnd(worker: Worker, end: (why: string, code: number) => void): void {
  worker.on('error', error => {
    if (worker.process.pid === undefined) end(error.message, 1)
  })
  worker.once('exit', (code: number | null, signal: string | null) =>
    end(signal ?? `exit code ${code}`, code ?? 1),
  )
}
