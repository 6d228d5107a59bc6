import type { Worker } from 'node:cluster'
import type { WorkerFamilies } from '../observe/metrics/print-families.ts'
import type { ServerSettings } from '../project/settings/settings.ts'

/** The methods of one side: each takes at most one JSON value and returns one. */
type RpcMethods<Asked> = { readonly [Name in keyof Asked]: (about: never) => Promise<unknown> }

/** Calls methods of the other process. */
export interface Rpc<Asked extends RpcMethods<Asked>> {
  /** The result; null if the other process failed or ended. Never rejects. */
  call<Name extends keyof Asked & string>(
    name: Name,
    ...about: Parameters<Asked[Name]>
  ): Promise<Awaited<ReturnType<Asked[Name]>> | null>
  /** The other process has ended: resolves all pending calls to null. */
  disconnect(): void
}

/** The message channel to the other process. */
interface Channel {
  on(event: 'message', hear: (message: unknown) => void): unknown
  /** `failed` is called if the message cannot be sent. */
  send(message: object, failed: () => void): void
}

/** The channel also carries messages of node:cluster. */
type Message =
  | { readonly rpc: 'call'; readonly id: number; readonly name: string; readonly about?: unknown }
  | { readonly rpc: 'result'; readonly id: number; readonly answer: unknown }

export function openRpc<Asked extends RpcMethods<Asked>, Answered extends RpcMethods<Answered>>(
  channel: Channel,
  answers: Answered,
): Rpc<Asked> {
  const waiting = new Map<number, (answer: unknown) => void>()
  let last = 0
  channel.on('message', message => {
    if (!isMessage(message)) return
    if (message.rpc === 'call') void respond(channel, answers, message)
    else resolveCall(waiting, message.id, message.answer)
  })
  return {
    async call(name, ...[about]) {
      const id = ++last
      const answer = new Promise(resolve => waiting.set(id, resolve))
      channel.send({ rpc: 'call', id, name, about }, () => resolveCall(waiting, id, null))
      // Both sides are the same program, so the result has the declared type.
      return (await answer) as never
    },
    disconnect() {
      for (const id of [...waiting.keys()]) resolveCall(waiting, id, null)
    },
  }
}

/** In the primary, `worker` is the other process; in a worker, it is this one. */
export const channelTo = (worker: Worker): Channel => ({
  on: (event, hear) => worker.on(event, hear),
  send(message, failed) {
    if (worker.isConnected()) worker.send(message, undefined, error => error && failed())
    else failed()
  },
})

const isMessage = (message: unknown): message is Message =>
  typeof message === 'object' && message !== null && 'rpc' in message

function resolveCall(waiting: Map<number, (answer: unknown) => void>, id: number, answer: unknown): void {
  waiting.get(id)?.(answer)
  waiting.delete(id)
}

async function respond<Answered extends RpcMethods<Answered>>(
  channel: Channel,
  answers: Answered,
  { id, name, about }: Extract<Message, { rpc: 'call' }>,
): Promise<void> {
  // The caller has the same types, so the method exists.
  const answer = await answers[name as keyof Answered](about as never)
  // If it cannot be sent, the caller has ended.
  channel.send({ rpc: 'result', id, answer: answer ?? null }, () => {})
}

/** Methods of a worker. */
export interface WorkerMethods {
  /** Reloads the project's files. True: the new version is served. */
  reload(): Promise<boolean>
  /** Holds new requests until `release` or the end of the next reload. Resolves when no request is in flight. */
  hold(): Promise<void>
  release(): Promise<void>
  /** Heartbeat of the event loop. */
  beat(): Promise<true>
  /** Its metrics. */
  metrics(): Promise<WorkerFamilies['families']>
}

/** Methods of the primary process. */
export interface PrimaryMethods {
  /** The worker serves requests. */
  serving(about: ServingSettings): Promise<void>
  /** Makes the other workers hold requests, if this one reloads first. Resolves when they do. */
  holdOthers(): Promise<void>
  /** The metrics of all workers, as text. */
  allMetrics(): Promise<string>
}

/** Settings that the primary process needs. */
export type ServingSettings = Pick<ServerSettings, 'host' | 'logLevel' | 'metrics' | 'stallTimeout'>
