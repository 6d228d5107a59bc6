import { loadPg } from './load-pg.ts'
import type { Host, Target } from './open-connection.ts'
import { OpeningError } from './opening-fault.ts'

const PRIMARY = 'database.url'

/** libpq's values of target_session_attrs that can lead to a server that takes writes, and those that cannot. */
const WRITABLE: ReadonlySet<string> = new Set(['read-write', 'primary', 'any'])
const READ_ONLY: ReadonlySet<string> = new Set(['read-only', 'standby', 'prefer-standby'])

/** Parses `postgres://user:password@one,two:5433/database`. */
export async function parsePrimary(url: string): Promise<Target> {
  const [first, ...others] = await Promise.all(splitHosts(url).map(each => parseTarget(each, PRIMARY)))
  if (!first) throw invalidUrl(PRIMARY)
  assertWritable(url)
  return others.length === 0 ? first : { ...first, hosts: [first, ...others].map(toHost) }
}

export async function parseReplica(url: string, index: number): Promise<Target> {
  const key = `database.replicas[${index}]`
  if (splitHosts(url).length > 1)
    throw new OpeningError('url', `${key} names several servers: list each of them as a replica of its own`)
  return parseTarget(url, key)
}

const toHost = ({ host, port }: Target): Host => ({ host, port })

/** Returns one URL per host. */
export function splitHosts(url: string): readonly string[] {
  const [, before, hosts, after] = MULTI_HOST.exec(url) ?? []
  if (hosts === undefined) return [url]
  return hosts.split(',').map(host => `${before}${host}${after}`)
}

/** Captures the part before the hosts, the hosts and the rest. */
const MULTI_HOST = /^(postgres(?:ql)?:\/\/(?:[^/?#]*@)?)([^/?#@]*,[^/?#@]*)(.*)$/s

function assertWritable(url: string): void {
  const wanted = new URLSearchParams(url.split('?')[1] ?? '').get('target_session_attrs')
  if (wanted === null || WRITABLE.has(wanted)) return
  const why = READ_ONLY.has(wanted)
    ? 'asks for servers that take no writes: list those in database.replicas, and say read-write'
    : `is not one of ${[...WRITABLE].join(', ')}`
  throw new OpeningError('url', `target_session_attrs of ${PRIMARY} ${why}`)
}

/** pg parses the URL: hosts, sockets, `sslmode` and libpq's other parameters. */
async function parseTarget(url: string, key: string): Promise<Target> {
  const pg = loadPg()
  if (!/^postgres(ql)?:\/\//.test(url)) throw invalidUrl(key)
  try {
    const client = new pg.Client({ connectionString: url }) as unknown as ParsedClient
    const { host, port, user, password, database, connectionParameters: parameters } = client
    return {
      ...{ host, port, user, database },
      ...(password && { password }),
      ...(parameters.ssl && { ssl: parameters.ssl }),
      ...(parameters.options && { options: parameters.options }),
    }
  } catch (error) {
    if (error instanceof TypeError) throw invalidUrl(key)
    // Certificates named in the URL are read at once.
    if (error instanceof Error && 'syscall' in error)
      throw new OpeningError('url', `${key} names a file that cannot be read: ${error.message}`, error)
    throw error
  }
}

/** Properties of a client that pg's types leave out. */
interface ParsedClient {
  readonly host: string
  readonly port: number
  readonly user: string
  readonly password: string | null
  readonly database: string
  readonly connectionParameters: { readonly ssl?: object | boolean; readonly options?: string }
}

const invalidUrl = (key: string) =>
  new OpeningError(
    'url',
    `${key} must be ${key === PRIMARY ? '`embedded` or ' : ''}like postgres://user:password@host:5432/database`,
  )
