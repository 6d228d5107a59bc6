import type { Settings } from '../../core/project/settings/settings.ts'
import type { Advice } from './advice.ts'
import type { TableStatistics } from './table-statistics.ts'

export interface SettingsTerms {
  readonly settings: Settings
  readonly production: boolean
  /** Serving processes on this machine. */
  readonly workers: number
}

/** Advice on slow or unsafe settings. */
export const lookAtSettings = (terms: SettingsTerms, numbers: TableStatistics | null): readonly Advice[] => [
  ...lookAtSafety(terms),
  ...lookAtSpeed(terms),
  ...(numbers ? [...connectionsOf(terms, numbers), ...replicasOf(terms, numbers)] : []),
]

function* lookAtSafety({ settings, production }: SettingsTerms): Generator<Advice> {
  const { auth, database, server } = settings
  if (isWeak(auth.jwtSecret))
    yield {
      severity: 'fault',
      code: 'weak-secret',
      about: 'auth.jwtSecret',
      found:
        'the secret that sessions are signed with can be guessed: it repeats itself, or is made of words',
      remedy: 'take a random one (`openssl rand -base64 32`); it signs everybody out',
    }
  if (production && database.url === 'embedded')
    yield {
      severity: 'advice',
      code: 'embedded',
      about: 'database.url',
      found:
        'in production the embedded database serves one process, has no replicas, and its backup is a copy of .plinth/ while nothing runs',
      remedy:
        'name a PostgreSQL server where more than one machine or process is to serve, or what is in it matters',
    }
  for (const limit of ['auth', 'account'] as const)
    if (production && server.rateLimit[limit] === false)
      yield {
        severity: 'advice',
        code: 'no-limit',
        about: `server.rateLimit.${limit}`,
        found: 'passwords can be tried without end',
        remedy: 'leave it out, for the limit that is standard',
      }
  if (database.statementTimeout === 0)
    yield {
      severity: 'advice',
      code: 'no-timeout',
      about: 'database.statementTimeout',
      found: 'a statement may hold its connection for ever',
      remedy: 'leave it out (15 s), or give it a time',
    }
}

/** 32 random hexadecimal digits almost always have at least this many distinct characters. */
const VARIETY = 8

const isWeak = (secret: string): boolean =>
  secret !== '' &&
  (new Set(secret).size < VARIETY ||
    isRepeated(secret) ||
    /change.?me|your.?secret|example|placeholder|not.?secret|password|123456789|abcdefgh/i.test(secret))

/** Matches texts that repeat a short sequence. */
const LONGEST_UNIT = 16

function isRepeated(secret: string): boolean {
  for (let length = 1; length <= LONGEST_UNIT && 2 * length <= secret.length; length++)
    if (secret.length % length === 0 && secret.slice(0, length).repeat(secret.length / length) === secret)
      return true
  return false
}

function* lookAtSpeed({ settings, production }: SettingsTerms): Generator<Advice> {
  if (production && !(settings.cache.enabled && settings.cache.maxBytes > 0))
    yield {
      severity: 'advice',
      code: 'no-cache',
      about: 'cache',
      found: 'every response is computed again, even if nothing has changed',
      remedy: 'leave `cache` out: what is kept is proved by a statement, and never stale',
    }
  if (settings.server.slowQuery === 0)
    yield {
      severity: 'advice',
      code: 'no-slow-log',
      about: 'server.slowQuery',
      found: 'slow reads are not logged',
      remedy: 'leave it out (1 s), or give it a time, and hand this command the log',
    }
}

function connectionsOf(
  { settings, workers }: SettingsTerms,
  { connections }: TableStatistics,
): readonly Advice[] {
  const { url, pool } = settings.database
  const wanted = workers * pool.max
  if (url === 'embedded' || wanted <= connections) return []
  return [
    {
      severity: 'fault',
      code: 'connections',
      about: 'database.pool.max',
      found: `${workers} processes of up to ${pool.max} connections want ${wanted}; the server gives ${connections}`,
      remedy: `at most ${Math.max(1, Math.floor(connections / workers))}, or a pooler (docs/scale.md)`,
    },
  ]
}

const replicasOf = ({ settings }: SettingsTerms, { replicas }: TableStatistics): readonly Advice[] => {
  const { database } = settings
  if (database.replicas.length === 0) return []
  return replicas
    .filter(({ behind }) => behind > database.replicaLag)
    .map(({ name, behind }) => ({
      severity: 'advice',
      code: 'replica-behind',
      about: 'database.replicas',
      found: `replica "${name}" is ${Math.round(behind / 1000)} s behind, more than \`replicaLag\`: it answers nothing`,
      remedy: 'see what it waits for: its disk, long reads on it, or the network',
    }))
}
