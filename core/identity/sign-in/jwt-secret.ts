import { randomBytes } from 'node:crypto'
import { link, mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { failed, ok, type Result } from '../../base/result.ts'

export interface SecretTerms {
  /** Of the settings; empty: none. */
  readonly given: string
  /** The project's folder. */
  readonly root: string
  readonly production: boolean
}

/** Under the project's folder. */
const FILE = '.plinth/jwt-secret'

/** What tokens are signed with. Development makes one and keeps it; production must be given one. Fails with a sentence. */
export async function loadJwtSecret({
  given,
  root,
  production,
}: SecretTerms): Promise<Result<string, string>> {
  if (given !== '') return ok(given)
  if (production)
    return failed(
      'Production needs a secret to sign sessions with: set JWT_SECRET, or auth.jwtSecret of project.yaml, to at least 32 random characters',
    )
  const file = join(root, FILE)
  return ok((await readSecret(file)) ?? (await makeSecret(file)))
}

async function readSecret(file: string): Promise<string | null> {
  const text = await readFile(file, 'utf8').catch(unless('ENOENT'))
  return text === undefined || text.trim() === '' ? null : text.trim()
}

/** Those who start at once, in one process or several, agree on one: the first to link its file in has made it, whole. */
async function makeSecret(file: string): Promise<string> {
  const made = randomBytes(32).toString('base64url')
  const draft = `${file}.${randomBytes(6).toString('hex')}`
  await mkdir(dirname(file), { recursive: true })
  await writeFile(draft, `${made}\n`, { mode: 0o600 })
  await link(draft, file).catch(unless('EEXIST'))
  await rm(draft)
  return (await readSecret(file)) ?? made
}

const unless =
  (code: string) =>
  (error: unknown): undefined => {
    if (error instanceof Error && 'code' in error && error.code === code) return
    throw error
  }
