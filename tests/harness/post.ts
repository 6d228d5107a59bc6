import { once } from 'node:events'
import { createServer, type Server, type Socket } from 'node:net'
import type { ExecutionContext } from 'ava'
import { SMTPServer, type SMTPServerOptions } from 'smtp-server'

type Test = Pick<ExecutionContext, 'teardown'>

interface PostedMail {
  readonly from: string
  readonly to: readonly string[]
  /** The raw message including its headers. */
  readonly text: string
}

export interface Post {
  readonly port: number
  readonly mails: readonly PostedMail[]
  /** Stops the server before the end of the test. */
  close(): Promise<void>
}

/** A mail server on loopback that takes every mail. */
export async function openPost(t: Test, options: SMTPServerOptions = {}): Promise<Post> {
  const mails: PostedMail[] = []
  const server = new SMTPServer({
    disabledCommands: ['STARTTLS'],
    authOptional: true,
    ...options,
    onData(stream, { envelope }, done) {
      let text = ''
      stream.on('data', part => (text += String(part)))
      stream.on('end', () => {
        const from = envelope.mailFrom === false ? '' : envelope.mailFrom.address
        mails.push({ from, to: envelope.rcptTo.map(({ address }) => address), text })
        done()
      })
    },
  })
  const listening = server.listen(0, '127.0.0.1')
  await once(listening, 'listening')
  const close = () => new Promise<void>(done => server.close(done))
  t.teardown(close)
  return { port: portOf(listening), mails, close }
}

/** Passes connections to a callback; it speaks no SMTP. */
export async function openMute(t: Test, greet: (socket: Socket) => void) {
  const sockets = new Set<Socket>()
  const server = createServer(socket => {
    sockets.add(socket.on('error', () => {}).on('close', () => sockets.delete(socket)))
    greet(socket)
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => {
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  return { port: portOf(server), sockets }
}

function portOf(server: Pick<Server, 'address'>): number {
  const address = server.address()
  return address !== null && typeof address === 'object' ? address.port : 0
}
