import { trimEndCharacter } from '../../base/text.ts'
import type {
  ProjectFile,
  ApiRateLimit as WrittenApiRateLimit,
  RateLimit as WrittenRateLimit,
} from '../project-types.ts'
import type { ApiRateLimit, DatabaseSettings, RateLimit, RestSettings, ServerSettings } from './settings.ts'
import { toBytes, toMilliseconds } from './units.ts'

export function toServer(written: ProjectFile['server'] = {}): ServerSettings {
  return {
    host: written.host ?? '0.0.0.0',
    port: written.port ?? 1337,
    url: trimEndCharacter(written.url ?? 'http://localhost:1337', '/'),
    cors: { origins: ['*'], credentials: false, ...written.cors },
    bodyLimit: toBytes(written.bodyLimit ?? '1mb'),
    requestTimeout: toMilliseconds(written.requestTimeout ?? '30s'),
    stallTimeout: toMilliseconds(written.stallTimeout ?? '30s'),
    trustProxy: written.trustProxy ?? false,
    rateLimit: {
      api: toApiRateLimit(written.rateLimit?.api),
      auth: toRateLimit(written.rateLimit?.auth ?? {}),
      account: toRateLimit(written.rateLimit?.account ?? {}, ACCOUNT),
    },
    securityHeaders: written.securityHeaders ?? true,
    metrics: toMetrics(written.metrics),
    slowQuery: toMilliseconds(written.slowQuery ?? '1s'),
    logLevel: written.logLevel ?? 'info',
  }
}

function toMetrics({ enabled = false, path, port = null }: WrittenMetrics = {}): ServerSettings['metrics'] {
  return { enabled, path: path ?? '/metrics', port, isPublic: enabled && port === null && path !== undefined }
}

type WrittenMetrics = NonNullable<ProjectFile['server']>['metrics']

const SECOND = 1000

/** Limits password guessing against one account from many addresses; users who forgot theirs stay far below. */
const ACCOUNT = { window: 3600, max: 50 }

/** Private addresses are exempt by default: proxies and servers of the same network send requests of many clients. */
const API = { window: 60, max: 12_000, tokenMax: 120_000, privateNetworks: false }

function toApiRateLimit(written: false | WrittenApiRateLimit | undefined): ApiRateLimit | false {
  if (written === false) return false
  const { window, max, ...rest } = { window: API.window, max: API.max, ...written }
  const { tokenMax, privateNetworks } = {
    ...(written ? { tokenMax: max, privateNetworks: true } : API),
    ...rest,
  }
  return { window: toMilliseconds(window, SECOND), max, tokenMax, privateNetworks }
}

function toRateLimit(
  written: false | WrittenRateLimit,
  otherwise = { window: 60, max: 10 },
): RateLimit | false {
  if (written === false) return false
  const { window, max } = { ...otherwise, ...written }
  return { window: toMilliseconds(window, SECOND), max }
}

export function toDatabase(written: ProjectFile['database'] = {}): DatabaseSettings {
  return {
    url: written.url ?? 'embedded',
    replicas: (written.replicas ?? []).filter(address => address !== ''),
    replicaLag: toMilliseconds(written.replicaLag ?? '10s'),
    pool: {
      max: written.pool?.max ?? 10,
      idle: toMilliseconds(written.pool?.idle ?? '10s'),
      acquire: toMilliseconds(written.pool?.acquire ?? '5s'),
    },
    startTimeout: toMilliseconds(written.startTimeout ?? '60s'),
    statementTimeout: toMilliseconds(written.statementTimeout ?? '15s'),
    limits: {
      time: toMilliseconds(written.limits?.time ?? '10s'),
      bytes: toBytes(written.limits?.bytes ?? '16mb'),
      statements: written.limits?.statements ?? 4,
    },
    preparedStatements: written.preparedStatements ?? true,
    indexes: written.indexes ?? 'derived',
    schema: written.schema ?? 'public',
  }
}

export function toRest(written: ProjectFile['rest'] = {}): RestSettings {
  const { defaultLimit, maxLimit } = written
  const { usual, most } = reconcileLimits({ usual: defaultLimit, most: maxLimit }, { usual: 25, most: 100 })
  return { prefix: '/api', withCount: true, ...written, defaultLimit: usual, maxLimit: most }
}

/** The default and maximum number of documents in a list. */
interface PageLimits {
  readonly usual: number
  readonly most: number
}

type Written = { readonly [Key in keyof PageLimits]: number | undefined }

/** If the file sets only one of the limits, the other one is adjusted to it. */
export function reconcileLimits({ usual, most }: Written, otherwise: PageLimits): PageLimits {
  return {
    usual: usual ?? Math.min(otherwise.usual, most ?? otherwise.most),
    most: most ?? Math.max(otherwise.most, usual ?? otherwise.usual),
  }
}
