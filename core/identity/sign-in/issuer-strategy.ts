import { createRemoteJWKSet, customFetch, decodeJwt, errors, type JWTPayload, jwtVerify } from 'jose'
import type { Caller, Grants } from '../../access/caller.ts'
import type { Access } from '../../access/compile/compile-access.ts'
import { CLAIMS } from '../../access/user-path.ts'
import { isRecord } from '../../base/plain-data.ts'
import { messageWithCauses } from '../../base/text.ts'
import { fault, RequestFault, unauthorized } from '../../faults/fault.ts'
import type { Issuer } from '../../project/settings/settings.ts'
import type { Strategy } from '../identify.ts'

export interface IssuerOptions {
  readonly access: Access
  /** Milliseconds since 1970. */
  readonly now?: () => number
}

/**
 * Identifies callers by the tokens of other issuers (reference/safety.md#s8-sessions-and-resets). The issuer of a token
 * selects the declaration; the token is then verified by that issuer's keys alone. A token of another issuer is not of
 * this kind.
 */
export function issuerStrategy(declared: readonly Issuer[], options: IssuerOptions): Strategy {
  const known = new Map(declared.map(issuer => [issuer.issuer, openIssuer(issuer, options)]))
  return async credential => {
    const named = issuerOf(credential)
    const identify = named === null ? undefined : known.get(named)
    return identify ? identify(credential) : null
  }
}

/** The issuer that a token names, not verified yet; null: no JSON Web Token. */
function issuerOf(credential: string): string | null {
  try {
    const { iss } = decodeJwt(credential)
    return typeof iss === 'string' ? iss : null
  } catch (error) {
    if (error instanceof errors.JOSEError) return null
    throw error
  }
}

function openIssuer(issuer: Issuer, { access, now = () => Date.now() }: IssuerOptions) {
  const outages = openOutages(issuer)
  const keys = openKeys(issuer, now, outages.end)
  return async (credential: string): Promise<Caller> => {
    const claims = await verify(credential, keys, { issuer, now: now(), faultOf: outages.faultOf })
    return Object.freeze({
      kind: 'external',
      grants: grantsOf(claims, issuer, access),
      user: Object.freeze({ [CLAIMS]: claims }),
      subject: `${issuer.issuer} ${claims.sub}`,
    })
  }
}

type Keys = ReturnType<typeof createRemoteJWKSet>

interface VerifyOptions extends Pick<Outages, 'faultOf'> {
  readonly issuer: Issuer
  readonly now: number
}

async function verify(
  credential: string,
  keys: () => Promise<Keys>,
  { issuer, now, faultOf }: VerifyOptions,
): Promise<JWTPayload> {
  const { audience, algorithms, clockTolerance } = issuer
  const tolerance = Math.ceil(clockTolerance / 1000)
  try {
    const { payload } = await jwtVerify(credential, async (...header) => (await keys())(...header), {
      issuer: issuer.issuer,
      audience: [...audience],
      algorithms: [...algorithms],
      clockTolerance: tolerance,
      requiredClaims: ['sub', 'exp'],
      currentDate: new Date(now),
    })
    if (typeof payload.sub !== 'string' || payload.sub === '') throw refusal('it has no subject')
    // Only a token with a maximum age has its time of issue checked by the library.
    if (payload.iat !== undefined && payload.iat > now / 1000 + tolerance)
      throw refusal('it was issued in the future')
    return payload
  } catch (error) {
    const isOfKeys = error instanceof errors.JWKSInvalid || error instanceof errors.JWKSTimeout
    if (error instanceof errors.JOSEError && !isOfKeys) throw refusal(error.message)
    if (error instanceof RequestFault || !(error instanceof Error)) throw error
    // Also errors of Web Crypto, which refuses keys that are too short or damaged.
    throw faultOf(messageWithCauses(error))
  }
}

const refusal = (reason: string): RequestFault =>
  new RequestFault(
    unauthorized('Missing or invalid credentials', `The token of the issuer is refused: ${reason}`),
  )

/** Role of tokens whose issuer declares none. */
const SIGNED_IN = 'authenticated'

function grantsOf(claims: JWTPayload, { issuer, role }: Issuer, { roles }: Access): Grants {
  const key = role.claim ? claimedRole(claims, role, roles) : (role.default ?? SIGNED_IN)
  const grants = key === null ? undefined : roles.get(key)
  if (grants) return grants
  const claim = role.claim?.join('.') ?? 'role'
  throw refusal(`its claim \`${claim}\` names no role, and \`auth.issuers\` has no default for ${issuer}`)
}

/** The role that the claim names, else the default; null: none. The order of `map` is the order of precedence. */
export function claimedRole(
  claims: Readonly<Record<string, unknown>>,
  { claim = [], map, default: otherwise }: Issuer['role'],
  roles: Pick<Access['roles'], 'has'>,
): string | null {
  const values = valuesAt(claims, claim)
  const named = map
    ? Object.entries(map).find(([value]) => values.includes(value))?.[1]
    : values.find(value => roles.has(value))
  return named ?? otherwise
}

/** The texts of a claim; a single name is the claim itself, several are a path. */
function valuesAt(claims: Readonly<Record<string, unknown>>, path: readonly string[]): readonly string[] {
  let value: unknown = claims
  for (const name of path) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, name)) return []
    value = (value as Readonly<Record<string, unknown>>)[name]
  }
  return [value].flat().filter(each => typeof each === 'string')
}

/** Milliseconds. */
const FETCH_TIMEOUT = 5_000
/** Milliseconds between two fetches: tokens with unknown key ids cannot cause more. */
const COOLDOWN = 30_000
/** Milliseconds that keys are used without a new fetch. */
const KEYS_LIFETIME = 600_000
/** Milliseconds without a new attempt after a failure. */
const PAUSE = 5_000
/** Bytes of one answer. */
const MOST_BYTES = 512_000

/** The keys of an issuer, loaded at the first token. A failure to load them is 503, and not retried at once. */
function openKeys(
  { issuer, jwksUri }: Issuer,
  now: () => number,
  onRecovery: () => void,
): () => Promise<Keys> {
  let failedAt = Number.NEGATIVE_INFINITY
  let usedAt = Number.NEGATIVE_INFINITY
  let keys: Promise<Keys> | undefined
  const guard = async <Value>(work: () => Promise<Value>): Promise<Value> => {
    if (performance.now() - failedAt < PAUSE) throw new Error('that has failed a moment ago')
    try {
      return await work()
    } catch (error) {
      failedAt = performance.now()
      throw error
    }
  }
  const load = async (): Promise<Keys> =>
    createRemoteJWKSet(new URL(jwksUri ?? (await guard(() => discoverKeys(issuer)))), {
      timeoutDuration: FETCH_TIMEOUT,
      cooldownDuration: COOLDOWN,
      cacheMaxAge: KEYS_LIFETIME,
      [customFetch]: (url, init) =>
        guard(async () => {
          const response = await fetchKeys(url, init)
          if (failedAt !== Number.NEGATIVE_INFINITY) onRecovery()
          failedAt = Number.NEGATIVE_INFINITY
          return response
        }),
    })
  return () => {
    // The library would fetch no keys until the clock has caught up.
    if (usedAt - now() > COOLDOWN) keys = undefined
    usedAt = now()
    keys ??= load().catch((error: unknown) => {
      keys = undefined
      throw error
    })
    return keys
  }
}

/** A key set that the library cannot read must not be fetched for every token, nor may one faulty key keep out the others. */
async function fetchKeys(url: string, init: RequestInit): Promise<Response> {
  const text = await fetchBounded(url, init)
  const { keys } = Object(JSON.parse(text)) as { readonly keys?: unknown }
  if (!Array.isArray(keys)) throw new Error(`${url} answers no key set`)
  const readable = JSON.stringify({ keys: keys.filter(isRecord) })
  return new Response(readable, { headers: { 'content-type': 'application/json' } })
}

/** https://openid.net/specs/openid-connect-discovery-1_0.html, section 4.3: the configuration must name the issuer itself. */
async function discoverKeys(issuer: string): Promise<string> {
  const text = await fetchBounded(`${issuer.replace(/\/$/, '')}/.well-known/openid-configuration`, {})
  const { issuer: named, jwks_uri: uri } = Object(JSON.parse(text)) as Readonly<Record<string, unknown>>
  if (named !== issuer) throw new Error('its configuration names another issuer')
  if (typeof uri !== 'string' || !isAsSecure(uri, issuer))
    throw new Error('its configuration has no secure jwks_uri')
  return uri
}

/** Keys of an https issuer must not come over http. */
const isAsSecure = (uri: string, issuer: string): boolean =>
  URL.canParse(uri) &&
  (uri.startsWith('https://') || (issuer.startsWith('http://') && uri.startsWith('http://')))

/** No redirects; at most MOST_BYTES. */
async function fetchBounded(url: string, init: RequestInit): Promise<string> {
  const response = await fetch(url, {
    ...init,
    redirect: 'manual',
    signal: init.signal ?? AbortSignal.timeout(FETCH_TIMEOUT),
  })
  if (response.status === 200) return readBounded(url, response)
  await response.body?.cancel()
  throw new Error(`${url} answers ${response.status}`)
}

/** The body as text. Rejects if it has more than MOST_BYTES: no answer of an issuer or provider has. */
export async function readBounded(url: string, { body }: Response): Promise<string> {
  const parts: Uint8Array[] = []
  let size = 0
  for await (const part of body ?? []) {
    size += part.length
    if (size > MOST_BYTES) throw new Error(`${url} answers more than ${MOST_BYTES} bytes`)
    parts.push(part)
  }
  return Buffer.concat(parts).toString()
}

/** Milliseconds between two lines of the log about one outage of an issuer. */
const LOG_PAUSE = 60_000

interface Outages {
  /** The fault of one request. The log has the reasons of the first one, and of one a minute. */
  faultOf(why: string): RequestFault
  /** The next outage is logged at once. */
  end(): void
}

function openOutages({ issuer }: Issuer): Outages {
  let loggedAt = Number.NEGATIVE_INFINITY
  let unlogged = 0
  return {
    faultOf(why) {
      const input = fault('unavailable', 'Service Unavailable')
      if (performance.now() - loggedAt < LOG_PAUSE) {
        unlogged += 1
        return new RequestFault(input)
      }
      const more =
        unlogged === 0 ? '' : `; since the line before, ${unlogged} more requests were answered 503`
      loggedAt = performance.now()
      unlogged = 0
      return new RequestFault({
        ...input,
        reason: `The keys of the issuer ${issuer} cannot be loaded: ${why}${more}`,
      })
    },
    end() {
      loggedAt = Number.NEGATIVE_INFINITY
    },
  }
}
