import type { ExecutionContext } from 'ava'
import { openProxy } from '../harness/proxy.ts'

/** A way to a database that can be shut: connections break as they do when a server dies. */
export interface Gate {
  readonly url: string
  shut(): void
  open(): void
  /** Connections that came while it was shut. */
  refused(): number
}

/** Closes after this many parts of answers, if a number is given. */
export async function openGate(
  t: Pick<ExecutionContext, 'teardown'>,
  to: string,
  answers = Number.POSITIVE_INFINITY,
): Promise<Gate> {
  let isOpen = true
  let left = answers
  let refused = 0
  const proxy = await openProxy(t, to, {
    accepts() {
      if (!isOpen) refused++
      return isOpen
    },
    forward(client, database) {
      client.pipe(database)
      database.pipe(client)
      database.on('data', () => {
        left--
        if (left <= 0) shut()
      })
    },
  })
  const shut = () => {
    isOpen = false
    proxy.disconnect()
  }
  return {
    url: proxy.url,
    shut,
    refused: () => refused,
    open: () => {
      isOpen = true
    },
  }
}
