import type { Worker } from 'node:cluster'
import { channelTo, openRpc, type PrimaryMethods, type Rpc, type WorkerMethods } from './rpc.ts'

/** How a process ended. */
export interface Ending {
  /** `exit code 1`, `SIGKILL` */
  readonly why: string
  /** Its exit code; 1 where it has none. */
  readonly code: number
  /** Milliseconds that it served requests. */
  readonly served: number
}

/** One worker process, from its start to its end. */
export interface WorkerProcess {
  readonly pid: number
  readonly rpc: Rpc<WorkerMethods>
  /** Resolves to true when it serves, to false if it ends before. */
  readonly begun: Promise<boolean>
  readonly ended: Promise<Ending>
  /** True while it serves requests. */
  isServing(): boolean
  kill(signal: NodeJS.Signals): void
}

/** `stalled` is called with the milliseconds that the event loop was blocked, before the process is killed. */
export function openWorkerProcess(
  worker: Worker,
  answers: PrimaryMethods,
  stalled: (pid: number, milliseconds: number) => void,
): WorkerProcess {
  closeOrphanedConnections(worker)
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
  const rpc = openRpc<WorkerMethods, PrimaryMethods>(channelTo(worker), {
    ...answers,
    async serving(about) {
      servesSince = performance.now()
      endWatch = watchStalls({
        timeout: about.stallTimeout,
        beat: () => rpc.call('beat'),
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
    rpc.disconnect()
    begin(false)
    end({ why, code, served })
  })
  return {
    pid: worker.process.pid ?? 0,
    rpc,
    begun,
    ended,
    isServing: () => servesSince !== null,
    kill: signal => void worker.process.kill(signal),
  }
}

/**
 * A process that cannot be created emits `error` but no `exit`. A running one may emit errors, such as a failed send, that
 * are no end.
 */
function onEnd(worker: Worker, end: (why: string, code: number) => void): void {
  worker.on('error', error => {
    if (worker.process.pid === undefined) end(error.message, 1)
  })
  worker.once('exit', (code: number | null, signal: string | null) =>
    end(signal ?? `exit code ${code}`, code ?? 1),
  )
}

interface StallOptions {
  /** Milliseconds without a heartbeat after which the worker counts as stalled; 0: never. */
  readonly timeout: number
  /** null: the worker has ended. */
  beat(): Promise<true | null>
  /** Called once. */
  stalled(): void
}

/** Heartbeats per timeout; as many missed ones are a stall. */
const BEATS_PER_TIMEOUT = 5

/**
 * Watches the heartbeat of a worker's event loop. Counts missed beats instead of time: a primary process that was blocked
 * itself finds the replies waiting. Returns a function that stops the watch.
 */
function watchStalls({ timeout, beat, stalled }: StallOptions): () => void {
  if (timeout === 0) return () => {}
  let missed = 0
  const sendBeat = async () => {
    if (await beat()) missed = 0
  }
  const timer = setInterval(() => {
    missed++
    if (missed === 1) void sendBeat()
    if (missed <= BEATS_PER_TIMEOUT) return
    clearInterval(timer)
    stalled()
  }, timeout / BEATS_PER_TIMEOUT)
  return () => clearInterval(timer)
}

/** A connection that the primary process accepted. */
interface Handle {
  close(): void
}

/** The message of node:cluster that passes a connection to a worker; its reply has the same number as `ack`. */
interface ConnectionMessage {
  readonly cmd: 'NODE_CLUSTER'
  readonly act: 'newconn'
  readonly seq: number
}

/**
 * Closes connections that were passed to a worker which ended before it accepted them. Node keeps them open without a
 * reader, so that their clients would wait until their own timeout.
 */
function closeOrphanedConnections(worker: Worker): void {
  const pending = new Map<number, Handle>()
  const { process: child } = worker
  const send = child.send.bind(child) as (...all: unknown[]) => boolean
  child.send = (...all: unknown[]) => {
    const [message, handle] = all
    if (isConnectionMessage(message) && handle) pending.set(message.seq, handle as Handle)
    return send(...all)
  }
  child.on('internalMessage', (message: { readonly ack?: number }) => {
    if (message.ack !== undefined) pending.delete(message.ack)
  })
  worker.once('exit', () => {
    for (const handle of pending.values()) handle.close()
    pending.clear()
  })
}

const isConnectionMessage = (message: unknown): message is ConnectionMessage =>
  typeof message === 'object' && message !== null && 'act' in message && message.act === 'newconn'
