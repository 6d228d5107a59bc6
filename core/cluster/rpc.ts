import type { Worker } from 'node:cluster'

/** One side's questions: each takes at most one thing that JSON can hold, and answers one. */
type Questions<Asked> = { readonly [Name in keyof Asked]: (about: never) => Promise<unknown> }

/** The other process, as something to ask. */
export interface Line<Asked extends Questions<Asked>> {
  /** The answer; null where the other side failed to give one, or ended. Never rejects. */
  ask<Name extends keyof Asked & string>(
    name: Name,
    ...about: Parameters<Asked[Name]>
  ): Promise<Awaited<ReturnType<Asked[Name]>> | null>
  /** The other side has ended: what it was asked is answered with null. */
  hangUp(): void
}

/** A process's channel to another. */
interface Channel {
  on(event: 'message', hear: (message: unknown) => void): unknown
  /** `failed` is called where it could not be sent. */
  send(message: object, failed: () => void): void
}

/** What goes over the channel. Others' messages go over it, too. */
type Message =
  | { readonly line: 'question'; readonly id: number; readonly name: string; readonly about?: unknown }
  | { readonly line: 'answer'; readonly id: number; readonly answer: unknown }

export function openLine<Asked extends Questions<Asked>, Answered extends Questions<Answered>>(
  channel: Channel,
  answers: Answered,
): Line<Asked> {
  const waiting = new Map<number, (answer: unknown) => void>()
  let last = 0
  channel.on('message', message => {
    if (!isMessage(message)) return
    if (message.line === 'question') void respond(channel, answers, message)
    else settle(waiting, message.id, message.answer)
  })
  return {
    async ask(name, ...[about]) {
      const id = ++last
      const answer = new Promise(resolve => waiting.set(id, resolve))
      channel.send({ line: 'question', id, name, about }, () => settle(waiting, id, null))
      // Both sides are the same program, and its types say what answers what.
      return (await answer) as never
    },
    hangUp() {
      for (const id of [...waiting.keys()]) settle(waiting, id, null)
    },
  }
}

/** From both sides: the worker is either the other process, or this one. */
export const channelTo = (worker: Worker): Channel => ({
  on: (event, hear) => worker.on(event, hear),
  send(message, failed) {
    if (worker.isConnected()) worker.send(message, undefined, error => error && failed())
    else failed()
  },
})

const isMessage = (message: unknown): message is Message =>
  typeof message === 'object' && message !== null && 'line' in message

function settle(waiting: Map<number, (answer: unknown) => void>, id: number, answer: unknown): void {
  waiting.get(id)?.(answer)
  waiting.delete(id)
}

async function respond<Answered extends Questions<Answered>>(
  channel: Channel,
  answers: Answered,
  { id, name, about }: Extract<Message, { line: 'question' }>,
): Promise<void> {
  // As above: it is asked what it can answer.
  const answer = await answers[name as keyof Answered](about as never)
  // Who asked has ended where it cannot be sent.
  channel.send({ line: 'answer', id, answer: answer ?? null }, () => {})
}
