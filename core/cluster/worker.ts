import cluster, { type Worker } from 'node:cluster'
import type { ServedApp } from '../app/serve-app.ts'
import { channelTo, type Line, openLine } from './rpc.ts'
import type { ToPrimary, ToWorker } from './rpc-methods.ts'

/** The variable of the environment that tells a worker its number. */
export const NUMBER = 'PLINTH_WORKER'

/** The variable that tells a worker to bind the port last. */
export const BINDS_LAST = 'PLINTH_WORKER_BINDS_LAST'

/** This process, where it is one of several. */
export interface Workplace {
  readonly number: number
  /** Others serve from the same port: this one binds it only once it can serve, too. */
  readonly bindsLast: boolean
  /** Before a change that those who serve the former state could not live with: the other workers let requests wait. */
  holdOthers(): Promise<void>
  /** What all workers count, as text. */
  readAll(): Promise<string>
  /** Tells the primary process that it takes requests, and does what that asks from now on. */
  serve(served: ServedApp, stop: () => void): void
  /** Lets the process end by itself: it has nothing to serve. */
  leave(): void
}

/** null: this process is no worker. */
export function openWorkplace(): Workplace | null {
  const { worker } = cluster
  const number = Number(process.env[NUMBER])
  return worker && number ? workplaceOf(worker, number) : null
}

function workplaceOf(worker: Worker, number: number): Workplace {
  let line: Line<ToPrimary> | null = null
  // A message could not be written: where the primary process is gone, `disconnect` follows.
  worker.on('error', () => undefined)
  return {
    number,
    bindsLast: process.env[BINDS_LAST] === '1',
    readAll: async () => (await line?.ask('allNumbers')) ?? '',
    async holdOthers() {
      await line?.ask('holdOthers')
    },
    serve(served, stop) {
      line = openLine<ToPrimary, ToWorker>(channelTo(worker), answersOf(served))
      const { host, logLevel, metrics, stallTimeout } = served.blueprint().project.settings.server
      void line.ask('serving', { host, logLevel, metrics, stallTimeout })
      worker.once('disconnect', () => {
        line?.hangUp()
        // Else Node ends the process at once, and with it what is under way.
        worker.exitedAfterDisconnect = true
        stop()
      })
    },
    leave: () => void worker.disconnect(),
  }
}

function answersOf(served: ServedApp): ToWorker {
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
    numbers: async () => (await served.meters?.read()) ?? [],
  }
}
