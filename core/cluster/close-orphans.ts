import type { Worker } from 'node:cluster'

/** A connection that the primary process accepted. */
interface Handle {
  close(): void
}

/** What cluster sends to hand a connection over; it is answered by a message with the same number as `ack`. */
interface Handover {
  readonly cmd: 'NODE_CLUSTER'
  readonly act: 'newconn'
  readonly seq: number
}

/**
 * Ends connections that a worker was handed and had not taken when it ended. Node keeps them open without anybody who
 * would read them, so that their clients would wait until they give up.
 */
export function closeOrphans(worker: Worker): void {
  const pending = new Map<number, Handle>()
  const { process: child } = worker
  const send = child.send.bind(child) as (...all: unknown[]) => boolean
  child.send = (...all: unknown[]) => {
    const [message, handle] = all
    if (isHandover(message) && handle) pending.set(message.seq, handle as Handle)
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

const isHandover = (message: unknown): message is Handover =>
  typeof message === 'object' && message !== null && 'act' in message && message.act === 'newconn'
