import type { Worker } from 'node:cluster'
import { closeOrphans } from './close-orphans.ts'
import { channelTo, type Line, openLine } from './rpc.ts'
import type { ToPrimary, ToWorker } from './rpc-methods.ts'
import { watchStalls } from './watch-stalls.ts'

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

/** `stalled`: is told that the event loop stands still for so many milliseconds, before the process is killed. */
export function openPost(
  worker: Worker,
  answers: ToPrimary,
  stalled: (pid: number, milliseconds: number) => void,
): Post {
  closeOrphans(worker)
  let servesSince: number | null = null
  let endWatch = () => {}
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
      endWatch = watchStalls({
        timeout: about.stallTimeout,
        beat: () => line.ask('beat'),
        stalled() {
          stalled(worker.process.pid ?? 0, about.stallTimeout)
          worker.process.kill('SIGKILL')
        },
      })
      await answers.serving(about)
      begin(true)
    },
  })
  onEnd(worker, (why, code) => {
    const served = servesSince === null ? 0 : performance.now() - servesSince
    servesSince = null
    endWatch()
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
