import { webcrypto } from 'node:crypto'
import { errors, jwtVerify, SignJWT } from 'jose'

/** What a signed-in user's token says: who it is, and which of his sessions, so that a new password ends it. */
export interface Session {
  /** The user's numeric id. */
  readonly id: number
  /** His `sessionVersion` when he signed in. */
  readonly version: number
}

export interface Sessions {
  /** A token as it goes to its user. */
  issue(session: Session): Promise<string>
  /** null: not ours, changed, unsigned, of another algorithm, or expired. */
  read(token: string): Promise<Session | null>
}

export interface SessionTerms {
  /** A secret: never printed. */
  readonly secret: string
  /** Milliseconds. */
  readonly lifetime: number
  /** Milliseconds since 1970. */
  readonly now?: () => number
}

/** The one algorithm: what a token's header says of others is not listened to (contract/rest.md 14). */
const ALGORITHM = 'HS256'

/** JSON Web Tokens of payload `{ id, version, iat, exp }`. */
export function openSessions({ secret, lifetime, now = Date.now }: SessionTerms): Sessions {
  const key = importKey(secret)
  return {
    async issue({ id, version }) {
      const issuedAt = Math.floor(now() / 1000)
      return new SignJWT({ id, version })
        .setProtectedHeader({ alg: ALGORITHM, typ: 'JWT' })
        .setIssuedAt(issuedAt)
        .setExpirationTime(issuedAt + Math.ceil(lifetime / 1000))
        .sign(await key)
    },
    async read(token) {
      try {
        const options = {
          algorithms: [ALGORITHM],
          requiredClaims: ['id', 'iat', 'exp'],
          currentDate: new Date(now()),
        }
        const { payload } = await jwtVerify(token, await key, options)
        return toSession(payload.id, payload.version)
      } catch (error) {
        if (error instanceof errors.JOSEError) return null
        throw error
      }
    },
  }
}

const importKey = (secret: string): Promise<webcrypto.CryptoKey> =>
  webcrypto.subtle.importKey('raw', Buffer.from(secret, 'utf8'), { name: 'HMAC', hash: 'SHA-256' }, false, [
    'sign',
    'verify',
  ])

const toSession = (id: unknown, version: unknown): Session | null =>
  isCount(id) && isCount(version) ? { id, version } : null

/** As PostgreSQL's integers. */
const isCount = (value: unknown): value is number =>
  typeof value === 'number' && Number.isInteger(value) && value >= 0 && value < 2 ** 31
