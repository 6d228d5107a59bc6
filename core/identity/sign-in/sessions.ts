import { randomBytes, webcrypto } from 'node:crypto'
import { link, mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { errors, jwtVerify, SignJWT } from 'jose'
import { INTEGER } from '../../base/integers.ts'
import { failed, ok, type Result } from '../../base/result.ts'

/** Claims of a session token. */
export interface SessionClaims {
  /** Numeric id of the user. */
  readonly id: number
  /** The user's `sessionVersion` at sign-in. A new password increments it, which ends the session. */
  readonly version: number
  /** Id of the session, which its later tokens keep. Absent: a token of an earlier version. */
  readonly sessionId?: string
}

export interface Sessions {
  /** Returns a signed token; without a `sessionId` of a new session. */
  issue(session: SessionClaims): Promise<string>
  /** null: foreign, modified, unsigned or expired token, or another algorithm. */
  read(token: string): Promise<SessionClaims | null>
}

export interface SessionOptions {
  /** A secret: never printed. */
  readonly secret: string
  /** Former secrets, or the next one: their tokens are accepted, none is signed with them. */
  readonly otherSecrets?: readonly string[]
  /** Milliseconds. */
  readonly lifetime: number
  /** Milliseconds since 1970. */
  readonly now?: () => number
}

/** The only accepted algorithm, whatever the header of a token says (reference/rest.md#14-access). */
const ALGORITHM = 'HS256'

/** JSON Web Tokens of payload `{ id, version, sid, iat, exp }`. */
export function openSessions({
  secret,
  otherSecrets = [],
  lifetime,
  now = Date.now,
}: SessionOptions): Sessions {
  const key = importKey(secret)
  const keys = Promise.all([key, ...otherSecrets.map(importKey)])
  return {
    async issue({ id, version, sessionId = newSessionId() }) {
      const issuedAt = Math.floor(now() / 1000)
      return new SignJWT({ id, version, sid: sessionId })
        .setProtectedHeader({ alg: ALGORITHM, typ: 'JWT' })
        .setIssuedAt(issuedAt)
        .setExpirationTime(issuedAt + Math.ceil(lifetime / 1000))
        .sign(await key)
    },
    async read(token) {
      const options = {
        algorithms: [ALGORITHM],
        requiredClaims: ['id', 'iat', 'exp'],
        currentDate: new Date(now()),
      }
      for (const each of await keys) {
        try {
          const { payload } = await jwtVerify(token, each, options)
          return toSession(payload)
        } catch (error) {
          if (error instanceof errors.JWSSignatureVerificationFailed) continue
          if (error instanceof errors.JOSEError) return null
          throw error
        }
      }
      return null
    },
  }
}

const importKey = (secret: string): Promise<webcrypto.CryptoKey> =>
  webcrypto.subtle.importKey('raw', Buffer.from(secret, 'utf8'), { name: 'HMAC', hash: 'SHA-256' }, false, [
    'sign',
    'verify',
  ])

const newSessionId = (): string => randomBytes(12).toString('base64url')

function toSession({ id, version, sid }: Readonly<Record<string, unknown>>): SessionClaims | null {
  if (!isInteger32(id) || !isInteger32(version)) return null
  return typeof sid === 'string' && sid !== '' ? { id, version, sessionId: sid } : { id, version }
}

const isInteger32 = (value: unknown): value is number =>
  typeof value === 'number' && Number.isInteger(value) && value >= 0 && value <= INTEGER.most

interface JwtSecretOptions {
  /** From the settings; empty: none. */
  readonly input: string
  /** Folder of the project. */
  readonly root: string
  readonly production: boolean
}

/** Relative to the project's folder. */
const SECRET_FILE = '.plinth/jwt-secret'

/** The secret for signing tokens. Development creates and stores one; production requires one. Fails with a message. */
export async function loadJwtSecret({
  input,
  root,
  production,
}: JwtSecretOptions): Promise<Result<string, string>> {
  if (input !== '') return ok(input)
  if (production)
    return failed(
      'Production needs a secret to sign sessions with: set JWT_SECRET, or auth.jwtSecret of project.yaml, to at least 32 random characters',
    )
  const file = join(root, SECRET_FILE)
  return ok((await readSecret(file)) ?? (await createSecret(file)))
}

async function readSecret(file: string): Promise<string | null> {
  const text = await readFile(file, 'utf8').catch(ignoreError('ENOENT'))
  return text === undefined || text.trim() === '' ? null : text.trim()
}

/** Safe for concurrent starts: the first link() wins, and the file is complete when it appears. */
async function createSecret(file: string): Promise<string> {
  const made = randomBytes(32).toString('base64url')
  const draft = `${file}.${randomBytes(6).toString('hex')}`
  await mkdir(dirname(file), { recursive: true })
  await writeFile(draft, `${made}\n`, { mode: 0o600 })
  await link(draft, file).catch(ignoreError('EEXIST'))
  await rm(draft)
  return (await readSecret(file)) ?? made
}

const ignoreError =
  (code: string) =>
  (error: unknown): undefined => {
    if (error instanceof Error && 'code' in error && error.code === code) return
    throw error
  }
