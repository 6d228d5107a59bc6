import { type Folder, temporaryFolder } from '../harness/folder.ts'
import { type LocalServer, serveProject } from '../harness/server.ts'
import type { Body } from './reading-room.ts'

const TOKENS = {
  full: 'full-writing-room-token-000000000000000',
  drafter: 'drafter-writing-room-token-000000000000',
  clerk: 'clerk-writing-room-token-00000000000000',
} as const

const PROJECT = `
name: Writing Room
server: { host: "\${HOST}", port: "\${PORT}", bodyLimit: 200kb }
database: { url: "\${DATABASE_URL}" }
i18n: { locales: [en, fr], defaultLocale: en }
components:
  parts.note: { attributes: { text: { type: string, required: true }, by: { type: relation, relation: oneToOne, target: person } } }
contentTypes:
  person:
    pluralApiId: people
    attributes:
      name: { type: string, required: true }
      secret: { type: string, private: true }
      public: boolean
      articles: { type: relation, relation: oneToMany, target: article, mappedBy: author }
  article:
    draftAndPublish: true
    localized: true
    attributes:
      title: { type: string, required: true }
      price: { type: integer, localized: false }
      stage: { type: string, localized: false }
      author: { type: relation, relation: manyToOne, target: person, inversedBy: articles }
      readers: { type: relation, relation: manyToMany, target: person }
      note: { type: component, component: parts.note, localized: false }
      pieces: { type: dynamiczone, components: [parts.note], localized: false }
      open: { type: boolean, localized: false }
      data: { type: json, localized: false }
  homepage: { kind: single, attributes: { greeting: string } }
  vault:
    attributes: { code: string, article: { type: relation, relation: oneToOne, target: article } }
apiTokens:
  full: { type: full-access, secret: ${TOKENS.full} }
  drafter:
    type: custom
    secret: ${TOKENS.drafter}
    permissions: { article: { find: true, findOne: true, create: true, update: true, publish: false } }
  clerk:
    type: custom
    secret: ${TOKENS.clerk}
    permissions:
      article:
        findOne: { fields: ["!price"] }
        create: { fields: [title, stage, readers], set: { stage: new }, where: { title: { $startsWith: Ok } } }
        update: { where: { stage: new } }
        delete: { where: { stage: new } }
      person: { find: { where: { public: true } } }
roles:
  public: { permissions: { vault: [find, create] } }
`

export interface Written {
  readonly status: number
  readonly headers: Headers
  readonly body: Body
}

interface Sending {
  readonly as?: keyof typeof TOKENS | null
  readonly headers?: Readonly<Record<string, string>>
}

export interface WritingRoom {
  /** Sends `{ data }`, or no body without data. */
  send(method: string, path: string, data?: unknown, sending?: Sending): Promise<Written>
  /** Creates a document and returns its documentId. */
  make(path: string, data: unknown, sending?: Sending): Promise<string>
  close(): Promise<void>
}

export async function openWritingRoom(): Promise<WritingRoom> {
  const folder = temporaryFolder()
  folder.write('project.yaml', PROJECT)
  const server = await serveProject({ project: folder.path }).catch((reason: unknown) => {
    folder.remove()
    throw reason
  })
  return toRoom(server, folder)
}

function toRoom(server: LocalServer, folder: Folder): WritingRoom {
  const send: WritingRoom['send'] = async (method, path, data, { as = 'full', headers = {} } = {}) => {
    const answer = await fetch(server.base + path, {
      method,
      headers: {
        ...(data === undefined ? {} : { 'content-type': 'application/json' }),
        ...(as ? { authorization: `Bearer ${TOKENS[as]}` } : {}),
        ...headers,
      },
      ...(data === undefined ? {} : { body: JSON.stringify({ data }) }),
    })
    const text = await answer.text()
    return {
      status: answer.status,
      headers: answer.headers,
      body: (text === '' ? {} : JSON.parse(text)) as Body,
    }
  }
  return {
    send,
    async make(path, data, sending) {
      const { status, body } = await send('POST', path, data, sending)
      if (status !== 201) throw new Error(`${path}: ${status} ${JSON.stringify(body)}`)
      return String((body.data as Body).documentId)
    },
    async close() {
      await server.stop()
      folder.remove()
    },
  }
}

/** The status and the error message of a response: `400 Invalid key x`, `201`. */
export const reported = ({ status, body }: Written): string => {
  const error = body.error as Body | undefined
  return error ? `${status} ${String(error.message)}` : String(status)
}

/** A key of the document in a response. */
export const answered = ({ body }: Written, key: string): unknown => (body.data as Body)[key]
