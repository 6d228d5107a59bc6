export interface ServerSettings {
  readonly host: string
  readonly port: number
  readonly url: string
  readonly cors: { readonly origins: readonly string[]; readonly credentials: boolean }
  readonly bodyLimit: number
  readonly requestTimeout: number
  /** 0: never. */
  readonly stallTimeout: number
  readonly trustProxy: boolean
  readonly rateLimit: Readonly<Record<'auth' | 'account', RateLimit | false>> & {
    readonly api: ApiRateLimit | false
  }
  readonly securityHeaders: boolean
  readonly metrics: {
    readonly enabled: boolean
    readonly path: string
    readonly port: number | null
    /** On the server's own port, for everybody: `path` was asked for, and no port. */
    readonly isPublic: boolean
  }
  readonly slowQuery: number
  readonly logLevel: 'fatal' | 'error' | 'warn' | 'info' | 'debug' | 'trace' | 'silent'
}

export interface ApiRateLimit extends RateLimit {
  /** For one API token. */
  readonly tokenMax: number
  /** Whether loopback and private addresses are counted, too. */
  readonly privateNetworks: boolean
}

/** `window` in milliseconds. */
export interface RateLimit {
  readonly window: number
  readonly max: number
}
