import { once } from 'node:events'
import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'

export interface ListenTerms {
  readonly host: string
  readonly port: number
  /** Where the port is said: `server.port (PORT)`. */
  readonly key: string
}

/** Begins to listen; or says, in one sentence, why it cannot. */
export async function listen(server: Server, terms: ListenTerms): Promise<string | undefined> {
  try {
    server.listen(terms.port, terms.host)
    await once(server, 'listening')
    return undefined
  } catch (reason) {
    return whyNot(reason, terms)
  }
}

function whyNot(reason: unknown, { host, port, key }: ListenTerms): string {
  const code = reason instanceof Error && 'code' in reason ? reason.code : undefined
  if (code === 'EADDRINUSE') return `Port ${port} of ${host} is in use: set ${key} to a free one`
  if (code === 'EACCES') return `Port ${port} of ${host} is not for this user: set ${key} above 1023`
  if (code === 'EADDRNOTAVAIL' || code === 'ENOTFOUND')
    return `server.host ${host} is no address of this machine`
  return `Cannot listen on ${host}:${port}: ${reason instanceof Error ? reason.message : String(reason)}`
}

export function urlOf(server: Server): string {
  const { address, family, port } = server.address() as AddressInfo
  return `http://${family === 'IPv6' ? `[${address}]` : address}:${port}`
}
