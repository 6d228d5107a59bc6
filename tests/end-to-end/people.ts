import { createHmac } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { type Folder, temporaryFolder } from '../harness/folder.ts'
import { type LocalServer, serveProject } from '../harness/server.ts'
import type { Body } from './reading-room.ts'

export const SECRET = 'people-secret-of-more-than-thirty-two-letters'
export const FULL = 'full-people-token-00000000000000000000000'

/** A project of users alone; `more` is YAML for `auth` and below. */
const PROJECT = `
name: People
server: { host: "\${HOST}", port: "\${PORT}", trustProxy: "\${TRUST}", rateLimit: { api: "\${API_LIMIT}", auth: "\${LIMIT}", account: "\${ACCOUNT_LIMIT}" } }
database: { url: "\${DATABASE_URL}" }
user:
  attributes:
    nickname: { type: string, maxLength: 20 }
    motto: { type: string, private: true }
contentTypes:
  note:
    attributes:
      text: string
      owner: { type: relation, relation: manyToOne, target: user }
apiTokens:
  full: { type: full-access, secret: ${FULL} }
roles:
  public: { permissions: { i18n: [find] } }
  authenticated:
    permissions:
      note: { find: { where: { owner: { id: { $eq: $user.id } } } }, create: { set: { owner: $user.id } } }
      auth: [changePassword]
      users:
        me: true
        count: true
        find: { fields: [username, nickname] }
        findOne: { where: { id: { $eq: $user.id } } }
        update: { where: { id: { $eq: $user.id } }, fields: [username, nickname, email, password] }
        delete: { where: { id: { $eq: $user.id } } }
  clerk:
    permissions:
      role: [find]
      users:
        find: { where: { blocked: { $ne: true } } }
        create: { where: { role: { type: { $eq: authenticated } } }, set: { confirmed: true } }
        update: { where: { role: { type: { $eq: authenticated } } } }
`

const USERS = ['ann', 'bob', 'cleo', 'dora', 'eve', 'finn'].map(
  name =>
    `- { username: ${name}, email: ${name}@example.com, password: ${name}-password, confirmed: true, role: ${name === 'cleo' ? 'clerk' : 'authenticated'} }\n`,
)

export interface Reported {
  readonly status: number
  readonly headers: Headers
  /** Whatever the answer says: an object, a list, a number; null where it is empty. */
  readonly body: Body
}

export interface People {
  /** `token`: as it goes into `Authorization: Bearer`. */
  call(method: string, path: string, body?: unknown, token?: string): Promise<Reported>
  /** The token of who signs in. */
  signIn(identifier: string, password?: string): Promise<string>
  /** Resolves to the mails to an address, the oldest first, after this many have arrived. */
  mailsTo(address: string, count: number): Promise<readonly string[]>
  readonly server: LocalServer
  close(): Promise<void>
}

interface PeopleOptions {
  /** YAML below `auth:`, of two spaces. */
  readonly auth?: string
  /** The value of `server.rateLimit.auth`. */
  readonly limit?: string
  /** The value of `server.rateLimit.api`. */
  readonly apiLimit?: string
  /** The value of `server.rateLimit.account`. */
  readonly accountLimit?: string
  readonly trustProxy?: boolean
}

export async function openPeople({
  auth = '',
  limit = 'false',
  apiLimit = 'false',
  accountLimit = 'false',
  trustProxy = false,
}: PeopleOptions = {}): Promise<People> {
  const folder = temporaryFolder()
  const project = PROJECT.replace('"${LIMIT}"', limit)
    .replace('"${API_LIMIT}"', apiLimit)
    .replace('"${ACCOUNT_LIMIT}"', accountLimit)
    .replace('"${TRUST}"', String(trustProxy))
  folder.write('project.yaml', `${project}auth:\n  jwtSecret: ${SECRET}\n${auth}`)
  folder.write('content/users.yaml', USERS.join(''))
  const server = await serveProject({ project: folder.path }).catch((reason: unknown) => {
    folder.remove()
    throw reason
  })
  return toPeople(server, folder)
}

function toPeople(server: LocalServer, folder: Folder): People {
  const call: People['call'] = async (method, path, body, token) => {
    const answer = await fetch(server.base + path, {
      method,
      redirect: 'manual',
      signal: AbortSignal.timeout(120_000),
      headers: {
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
    const text = await answer.text()
    return { status: answer.status, headers: answer.headers, body: parse(text) }
  }
  return {
    call,
    async signIn(identifier, password = `${identifier}-password`) {
      const { status, body } = await call('POST', '/api/auth/local', { identifier, password })
      if (status !== 200) throw new Error(`${identifier}: ${status} ${JSON.stringify(body)}`)
      return String(body.jwt)
    },
    mailsTo: (address, count) => waitForMails(join(folder.path, '.plinth/mail'), address, count),
    server,
    async close() {
      await server.stop()
      folder.remove()
    },
  }
}

/** `Method Not Allowed` and its like are no JSON. */
const parse = (text: string) =>
  JSON.parse(text === '' ? 'null' : /^[[{"\dtfn]/.test(text) ? text : JSON.stringify(text))

async function waitForMails(folder: string, address: string, count: number): Promise<readonly string[]> {
  for (let tries = 0; tries < 600; tries++) {
    const mails = readMails(folder).filter(mail => mail.includes(`\nTo: ${address}\n`))
    if (mails.length >= count) return mails
    await pause(50)
  }
  throw new Error(`There are no ${count} mails to ${address}.`)
}

/** Their names begin with the time. */
export function readMails(folder: string): readonly string[] {
  try {
    const files = readdirSync(folder).sort()
    return files.map(file => readFileSync(join(folder, file), 'utf8'))
  } catch (reason) {
    if (reason instanceof Error && 'code' in reason && reason.code === 'ENOENT') return []
    throw reason
  }
}

/** `400 Invalid token`, `200`. */
export const said = ({ status, body }: Reported): string => {
  const error = body?.error as Body | undefined
  return error ? `${status} ${String(error.message)}` : String(status)
}

export const codeIn = (mail: string | undefined): string =>
  /[0-9a-f]{64}[0-9a-z]+/.exec(mail ?? '')?.[0] ?? ''

const encode = (part: object): string => Buffer.from(JSON.stringify(part)).toString('base64url')

/** A token of one's own making. */
export function forge(header: object, payload: object, secret = SECRET, hash = 'sha256'): string {
  const signed = `${encode(header)}.${encode(payload)}`
  return `${signed}.${createHmac(hash, secret).update(signed).digest('base64url')}`
}

export const payloadOf = (token: string): Body =>
  JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString('utf8'))
