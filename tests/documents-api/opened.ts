import { Readable } from 'node:stream'
import type { ExecutionContext } from 'ava'
import type { Caller } from '../../core/access/caller.ts'
import { composeMiddlewares } from '../../core/actions/compose-middlewares.ts'
import { openDocuments } from '../../core/documents/open-documents.ts'
import { openDocumentsApi } from '../../core/documents-api/open-documents-api.ts'
import { RequestFault } from '../../core/faults/fault.ts'
import { migrate } from '../../core/migrate/migrate.ts'
import { compileStorage } from '../../core/model/compile-storage.ts'
import type { DocumentMiddleware, DocumentsApi } from '../../core/plugins/services/documents-api.ts'
import { openRest } from '../../core/rest/open-rest.ts'
import { world } from '../access/project.ts'
import { answerOf } from '../harness/answer-of.ts'
import { openTestDatabase } from '../harness/test-database.ts'

const ROLES = `roles:
  reader: { permissions: { book: [find, findOne], writer: [find] } }
  author: { permissions: { book: { find: true, create: true, publish: false } } }
  editor:
    permissions:
      book:
        find: true
        create: { fields: [title], set: { price: 7 } }
        update: { where: { price: { $lt: 10 } } }
        publish: true
        delete: true
`

export interface Opened {
  readonly documents: DocumentsApi
  caller(role: string): Caller
  /** A request of a user with the role. */
  request(role: string, method: string, url: string, data?: unknown): Promise<RestAnswer>
}

export interface RestAnswer {
  readonly status: number
  /** The text as it went out. */
  readonly text: string
  readonly body: {
    readonly data: unknown
    readonly meta?: unknown
    readonly error?: { message: string }
  } | null
}

/**
 * The documents API and REST of a project of two related types. It is below the app, because tests pass middlewares as
 * functions and call as a role without a sign-in.
 */
export async function open(
  t: ExecutionContext,
  middlewares: readonly DocumentMiddleware[] = [],
): Promise<Opened> {
  const { project, model, access } = await world(ROLES)
  const storage = compileStorage(model)
  const database = await openTestDatabase(t, { tables: storage.tables })
  const migrated = await migrate(database, storage.tables)
  if (!migrated.ok) throw new Error(JSON.stringify(migrated.reasons))
  const documents = openDocuments({ database, storage, model })
  const runMiddlewares = composeMiddlewares(middlewares)
  const options = { model, settings: project.settings.rest, documents, runMiddlewares }
  const caller = (role: string): Caller => {
    const grants = access.roles.get(role)
    if (!grants) throw new Error(`no role ${role}`)
    return { kind: 'user', grants, user: null }
  }
  return {
    documents: openDocumentsApi(options),
    caller,
    async request(role, method, url, data) {
      const [path = '', search = ''] = url.split('?')
      const answer = await answerOf(openRest({ ...options, identify: async () => caller(role) }), {
        id: '1',
        method,
        path: `/api${path}`,
        search,
        headers: { 'content-type': 'application/json' },
        peer: '127.0.0.1',
        body: async () => Buffer.from(JSON.stringify({ data })),
        stream: () => Readable.from([]),
      })
      if (!answer) throw new Error(`no answer to ${method} ${url}`)
      const text = String(answer.body ?? '')
      return { status: answer.status, text, body: text === '' ? null : JSON.parse(text) }
    },
  }
}

/** The code and message with which an action rejects. */
export async function refusalOf(action: Promise<unknown>): Promise<string> {
  try {
    await action
  } catch (error) {
    if (error instanceof RequestFault) return `${error.fault.code}: ${error.message}`
    throw error
  }
  throw new Error('it was done')
}
