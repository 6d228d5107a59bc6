import { appendFileSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { ExecutionContext } from 'ava'
import { isRecord } from '../../core/query/parse-place.ts'
import { startServer } from '../harness/server.ts'
import { type Recording, recorded } from './import.ts'

const SECRET = 'a-secret-for-the-tests-of-strapi-000000000'
const TOKEN = 'a-token-for-the-tests-of-strapi-0000000000'

interface Answer {
  readonly url: string
  readonly status: number
  readonly body: unknown
}

interface ImportedProject {
  readonly folder: string
  readonly environment?: Readonly<Record<string, string>>
  /** True if the numbers of documents are those of the recording; default true. */
  readonly keepsIds?: boolean
}

/** Starts an imported project, and compares its answers with those of the Strapi that it was recorded from. */
export async function answersAsRecorded(
  t: ExecutionContext,
  recording: Recording,
  { folder, environment, keepsIds = true }: ImportedProject,
): Promise<void> {
  appendFileSync(
    join(folder, 'project.yaml'),
    `apiTokens: { test: { type: full-access, secret: ${TOKEN} } }\n`,
  )
  const isStrapi4 = recording !== 5
  const server = await startServer({
    project: folder,
    environment: { ...environment, JWT_SECRET: SECRET },
  })
  t.teardown(server.stop)
  const answers: readonly Answer[] = JSON.parse(
    readFileSync(join(recorded(recording), 'answers.json'), 'utf8'),
  )
  for (const { url: path, status, body } of answers) {
    const answer = await server.get(path, {
      authorization: `Bearer ${TOKEN}`,
      ...(isStrapi4 && { 'strapi-response-format': 'v4' }),
    })
    t.is(answer.status, status, path)
    const [ours, theirs] = [comparable(answer.body, keepsIds), comparable(body, keepsIds)]
    t.deepEqual(isStrapi4 ? withKeysOf(theirs, ours) : ours, theirs, path)
  }
  await signsIn(t, server.base)
  for (const name of readdirSync(join(recorded(recording), 'public/uploads'))) {
    const file = await fetch(`${server.base}/uploads/${name}`)
    const theirs = readFileSync(join(recorded(recording), 'public/uploads', name))
    t.deepEqual(Buffer.from(await file.arrayBuffer()), theirs, name)
  }
}

async function signsIn(t: ExecutionContext, base: string): Promise<void> {
  const signIn = (identifier: string, password: string) =>
    fetch(`${base}/api/auth/local`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ identifier, password }),
    })
  t.is((await signIn('ann', 'Ann-Password1')).status, 200)
  t.is((await signIn('ann', 'Bob-Password1')).status, 400)
  t.is((await signIn('bob', 'Bob-Password1')).status, 400)
}

/** Strapi 4 had neither documentIds nor, without drafts, a `publishedAt`. Lists keep their length. */
function withKeysOf(theirs: unknown, ours: unknown): unknown {
  if (Array.isArray(ours) && Array.isArray(theirs))
    return ours.map((each, index) => withKeysOf(theirs[index], each))
  if (!isRecord(ours) || !isRecord(theirs)) return ours
  return Object.fromEntries(Object.keys(theirs).map(key => [key, withKeysOf(theirs[key], ours[key])]))
}

/** Rows that Plinth creates at a start from the project file: only their values are compared. */
const MADE = ['id', 'documentId', 'createdAt', 'updatedAt', 'publishedAt', 'description']

/** Without the numbers of components, and what is new of roles and locales. */
function comparable(value: unknown, keepsIds: boolean): unknown {
  if (Array.isArray(value)) return value.map(each => comparable(each, keepsIds))
  if (typeof value !== 'object' || value === null) return value
  const isMade = 'isDefault' in value || 'type' in value
  const isComponent = !('documentId' in value) && !('attributes' in value)
  const entries = Object.entries(value).filter(
    ([key]) => !(isMade && MADE.includes(key)) && !((isComponent || !keepsIds) && key === 'id'),
  )
  return Object.fromEntries(entries.map(([key, each]) => [key, comparable(each, keepsIds)]))
}
