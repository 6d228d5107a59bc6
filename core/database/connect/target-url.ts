import type { Target } from './connect.ts'
import { OpeningError } from './opening-fault.ts'
import type { Host } from './try-hosts.ts'

const PRIMARY = 'database.url'

/** Of libpq's words for which of several servers is wanted, those that lead to one that takes writes. */
const WRITABLE: ReadonlySet<string> = new Set(['read-write', 'primary', 'any'])
const OTHERS: ReadonlySet<string> = new Set(['read-only', 'standby', 'prefer-standby'])

/** `postgres://user:password@one,two:5433/database`: of several servers, the one that takes writes is found. */
export async function parsePrimary(url: string): Promise<Target> {
  const [first, ...others] = await Promise.all(urlsOf(url).map(each => parseTarget(each, PRIMARY)))
  if (!first) throw invalidUrl(PRIMARY)
  assertWritable(url)
  return others.length === 0 ? first : { ...first, hosts: [first, ...others].map(hostOf) }
}

/** Each replica is looked at by itself. */
export async function parseReplica(url: string, index: number): Promise<Target> {
  const key = `database.replicas[${index}]`
  if (urlsOf(url).length > 1)
    throw new OpeningError('url', `${key} names several servers: list each of them as a replica of its own`)
  return parseTarget(url, key)
}

const hostOf = ({ host, port }: Target): Host => ({ host, port })

/** One URL for each of the servers; an address of one server as it is. */
export function urlsOf(url: string): readonly string[] {
  const [, before, hosts, behind] = SEVERAL.exec(url) ?? []
  if (hosts === undefined) return [url]
  return hosts.split(',').map(host => `${before}${host}${behind}`)
}

/** What comes before the servers, the servers, what comes behind them. */
const SEVERAL = /^(postgres(?:ql)?:\/\/(?:[^/?#]*@)?)([^/?#@]*,[^/?#@]*)(.*)$/s

function assertWritable(url: string): void {
  const wanted = new URLSearchParams(url.split('?')[1] ?? '').get('target_session_attrs')
  if (wanted === null || WRITABLE.has(wanted)) return
  const why = OTHERS.has(wanted)
    ? 'asks for servers that take no writes: list those in database.replicas, and say read-write'
    : `is not one of ${[...WRITABLE].join(', ')}`
  throw new OpeningError('url', `target_session_attrs of ${PRIMARY} ${why}`)
}

/** pg reads its own URLs: hosts, sockets, `sslmode` and the rest of libpq's words. */
async function parseTarget(url: string, key: string): Promise<Target> {
  const { default: pg } = await import('pg')
  if (!/^postgres(ql)?:\/\//.test(url)) throw invalidUrl(key)
  try {
    const client = new pg.Client({ connectionString: url }) as unknown as ParsedClient
    const { host, port, user, password, database, connectionParameters: parameters } = client
    const dialectOptions = {
      ...(parameters.ssl && { ssl: parameters.ssl }),
      ...(parameters.options && { options: parameters.options }),
    }
    return { host, port, username: user, ...(password && { password }), database, dialectOptions }
  } catch (error) {
    if (error instanceof TypeError) throw invalidUrl(key)
    // Certificates that the address names are read at once.
    if (error instanceof Error && 'syscall' in error)
      throw new OpeningError('url', `${key} names a file that cannot be read: ${error.message}`, error)
    throw error
  }
}

/** What pg's types leave out of a client. */
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
