declare module 'autocannon' {
  export interface Request {
    readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE'
    readonly path: string
    readonly headers: Readonly<Record<string, string>>
    readonly body?: string
  }
  interface Options {
    readonly url: string
    readonly connections: number
    /** Seconds. */
    readonly duration: number
    /** Requests a second, of all connections together; absent: as many as are answered. */
    readonly overallRate?: number
    readonly requests: readonly Planned[]
    /** Called once a connection. */
    readonly setupClient?: (client: { setRequests(requests: readonly Planned[]): void }) => void
  }
  /** Of one connection, until it begins its requests again. */
  interface Context {
    made?: string
  }
  export interface Planned extends Request {
    /** Called before each request; answers the one to send. */
    readonly setupRequest?: (request: Request, context: Context) => Request
    readonly onResponse?: (status: number, body: string, context: Context) => void
  }
  interface Result {
    readonly requests: { readonly total: number }
    /** Seconds. */
    readonly duration: number
    readonly latency: { readonly p50: number; readonly p99: number }
    readonly errors: number
    /** How many answers had such a status. */
    readonly '4xx': number
    readonly '5xx': number
  }
  export default function autocannon(options: Options): Promise<Result>
}
