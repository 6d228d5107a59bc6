import { openPasswordPool } from './password-pool.ts'

/** One for the process. */
const pool = openPasswordPool()

/** Two to the tenth rounds: about 50 ms on one core, as the reference does it. */
const COST = 10

/** bcrypt reads no further: a longer password would be cut in silence. */
const PASSWORD_BYTES = 72

/** Whether all of a password would count. */
export const fitsPassword = (password: string): boolean =>
  Buffer.byteLength(password, 'utf8') <= PASSWORD_BYTES

/** The bcrypt hash of a password of at most 72 bytes, 60 characters; throws RangeError for a longer one. */
export async function hashPassword(password: string): Promise<string> {
  if (!fitsPassword(password)) throw new RangeError(`a password has at most ${PASSWORD_BYTES} bytes`)
  return pool.hash(password, COST)
}

/** A hash that no password has: compared with where there is no account, so that time does not tell. */
const NO_HASH = '$2b$10$uqH.8te8dHybmS/ti3cYUefVKUPWnF53IKQNorX138nArGzFYkO/S'

type Compare = (password: string, hash: string) => Promise<boolean>

const compare: Compare = (password, hash) => pool.compare(password, hash)

/** Whether it is the password of the hash; null stands for nobody's, takes the same work, and never matches. */
export async function verifyPassword(
  password: string,
  hashed: string | null,
  work: Compare = compare,
): Promise<boolean> {
  const matches = await work(password, hashed ?? NO_HASH)
  return matches && hashed !== null && fitsPassword(password)
}
