import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { text } from 'node:stream/consumers'
import type { ExecutionContext } from 'ava'
import type { Responder } from '../../core/faults/http-exchange.ts'
import type { DispatcherOptions } from '../../core/http/dispatcher.ts'
import { openHttpServer, type RunningServer } from '../../core/http/server.ts'
import type { Observation } from '../../core/observe/observation.ts'
import type { ServerSettings } from '../../core/project/settings/settings.ts'

export const SETTINGS: ServerSettings = {
  host: '127.0.0.1',
  port: 0,
  url: 'http://localhost',
  cors: { origins: ['*'], headers: [], credentials: false },
  bodyLimit: 1024,
  requestTimeout: 5_000,
  stallTimeout: 0,
  trustProxy: false,
  rateLimit: { api: false, auth: false, account: false },
  securityHeaders: true,
  explainDenials: false,
  landingPage: 'development',
  metrics: { enabled: false, path: '/metrics', port: null },
  slowQuery: 1_000,
  logLevel: 'silent',
}

export interface Serving extends RunningServer {
  readonly port: number
  readonly reported: readonly Observation[]
}

type Options = Partial<Omit<DispatcherOptions, 'settings'>> & { readonly settings?: Partial<ServerSettings> }

/** A server of its own for a test, closed with it. */
export async function serve(
  t: Pick<ExecutionContext, 'teardown'>,
  responders: readonly Responder[],
  { settings = {}, ...options }: Options = {},
): Promise<Serving> {
  const reported: Observation[] = []
  const server = await openHttpServer({
    settings: { ...SETTINGS, ...settings },
    responders,
    fallback: null,
    observer: { isEnabled: () => true, emit: observation => reported.push(observation) },
    ...options,
  })
  const opened = await server.listen()
  if (!opened.ok) throw new Error(opened.reasons.join())
  t.teardown(() => opened.value.close(0))
  return { ...opened.value, port: Number(new URL(opened.value.url).port), reported }
}

export const echo: Responder = ({ path, method, search }) => ({
  status: 200,
  body: JSON.stringify({ path, method, search }),
})

/** The server's answer to bytes that no client library would send. */
export async function send(port: number, bytes: string): Promise<string> {
  const socket = await open(port)
  socket.write(bytes)
  return text(socket)
}

export async function open(port: number): Promise<Socket> {
  const socket = connect(port, '127.0.0.1')
  await once(socket, 'connect')
  return socket
}
