import { resolve } from 'node:path'
import { temporaryFolder } from '../harness/folder.ts'
import { type Answer, serveProject } from '../harness/server.ts'

/** The parts of a response that tests inspect: a document, a list of documents or any other value. */
export interface Body {
  readonly [key: string]: Value
}
export type Value = null | boolean | number | string | readonly Value[] | Body

export interface Room {
  readonly base: string
  /** An anonymous read, or one with a token of project.yaml. */
  get(path: string, token?: Token | null, headers?: Readonly<Record<string, string>>): Promise<Answer>
  request(method: string, path: string, headers?: Readonly<Record<string, string>>): Promise<Answer>
  /** The document of a 200 response to the full token. */
  one(path: string): Promise<Body>
  /** The documents of a 200 response to the full token. */
  many(path: string): Promise<readonly Body[]>
  /** The `code`s of the books that match, in order. */
  codes(query: string): Promise<readonly Value[]>
  close(): Promise<void>
}

const TOKENS = {
  full: 'full-reading-room-token-000000000000000',
  read: 'read-reading-room-token-000000000000000',
  custom: 'custom-reading-room-token-0000000000000',
  guarded: 'guarded-reading-room-token-000000000000',
  expired: 'expired-reading-room-token-000000000000',
} as const
export type Token = keyof typeof TOKENS

export async function openRoom(): Promise<Room> {
  const folder = temporaryFolder(resolve(import.meta.dirname, 'project'))
  const server = await serveProject({ project: folder.path }).catch((reason: unknown) => {
    folder.remove()
    throw reason
  })
  const get: Room['get'] = (path, token = 'full', headers = {}) =>
    server.get(path, { ...(token ? { authorization: `Bearer ${TOKENS[token]}` } : {}), ...headers })
  const data = async (path: string): Promise<Value> => {
    const answer = await get(path)
    if (answer.status !== 200) throw new Error(`${path}: ${answer.status} ${JSON.stringify(answer.body)}`)
    return (answer.body as Body).data ?? null
  }
  const many = async (path: string) => (await data(path)) as readonly Body[]
  return {
    base: server.base,
    get,
    request: server.request,
    one: async path => (await data(path)) as Body,
    many,
    codes: async query =>
      (await many(`/api/books?fields=code&sort=code&${query}`)).map(book => book.code ?? null),
    async close() {
      await server.stop()
      folder.remove()
    },
  }
}

/** The fields of an error response. */
export function errorOf(answer: Answer): Body {
  const { data, error } = answer.body as { data: null; error: Body }
  return { ...error, data }
}

export const metaOf = (answer: Answer): Body => (answer.body as Body).meta as Body

export const namesIn = (list: Value | undefined, key = 'name'): readonly Value[] =>
  (list as readonly Body[]).map(item => item[key] ?? null)
