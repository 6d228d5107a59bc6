import cluster, { type Worker } from 'node:cluster'
import type { ServedApp } from '../app/serve-app.ts'
import { channelTo, openRpc, type PrimaryMethods, type Rpc, type WorkerMethods } from './rpc.ts'

/** Environment variable with the number of a worker. */
export const WORKER_NUMBER = 'PLINTH_WORKER'

/** Environment variable that makes a worker bind the port last. */
export const BINDS_LAST = 'PLINTH_WORKER_BINDS_LAST'

/** The connection of a worker process to the primary process of its cluster. */
export interface WorkerContext {
  readonly number: number
  /** Other workers serve on the same port, so this one binds it only when it can serve. */
  readonly bindsLast: boolean
  /** Makes the other workers hold requests, before a migration that the previous version does not tolerate. */
  holdOthers(): Promise<void>
  /** The metrics of all workers in the text format of Prometheus. */
  readAllMetrics(): Promise<string>
  /** Reports to the primary process that the worker serves, and accepts its calls. `stop` is called when the connection ends. */
  serve(served: ServedApp, stop: () => void): void
  /** Disconnects from the primary process, so that this one can end. */
  disconnect(): void
}

/** null: this process is not a worker. */
export function openWorkerContext(): WorkerContext | null {
  const { worker } = cluster
  const number = Number(process.env[WORKER_NUMBER])
  return worker && number ? workerContextOf(worker, number) : null
}

function workerContextOf(worker: Worker, number: number): WorkerContext {
  let rpc: Rpc<PrimaryMethods> | null = null
  // A message could not be sent: if the primary process has gone, `disconnect` follows.
  worker.on('error', () => undefined)
  return {
    number,
    bindsLast: process.env[BINDS_LAST] === '1',
    readAllMetrics: async () => (await rpc?.call('allMetrics')) ?? '',
    async holdOthers() {
      await rpc?.call('holdOthers')
    },
    serve(served, stop) {
      rpc = openRpc<PrimaryMethods, WorkerMethods>(channelTo(worker), workerMethodsOf(served))
      const { host, logLevel, metrics, stallTimeout } = served.blueprint().project.settings.server
      void rpc.call('serving', { host, logLevel, metrics, stallTimeout })
      worker.once('disconnect', () => {
        rpc?.disconnect()
        // Otherwise Node ends the process at once, with its requests in flight.
        worker.exitedAfterDisconnect = true
        stop()
      })
    },
    disconnect: () => void worker.disconnect(),
  }
}

/** The methods that the primary process can call. */
function workerMethodsOf(served: ServedApp): WorkerMethods {
  let release = () => {}
  return {
    async reload() {
      const isServed = await served.reload()
      release()
      return isServed
    },
    async hold() {
      release()
      release = await served.hold()
    },
    release: async () => release(),
    beat: async () => true,
    metrics: async () => (await served.meters?.read()) ?? [],
  }
}
