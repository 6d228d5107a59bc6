import type { ExecutionContext } from 'ava'
import { compileApp } from '../../core/app/compile-app.ts'
import { endApp, openApp } from '../../core/app/open-app.ts'
import type { Result } from '../../core/base/result.ts'
import type { Database } from '../../core/database/database.ts'
import { RequestFault } from '../../core/faults/fault.ts'
import {
  type HttpRequest,
  type HttpResponse,
  type Responder,
  toFaultResponse,
} from '../../core/faults/http-exchange.ts'
import type { ContentType, Model } from '../../core/model/model.ts'
import type { Storage } from '../../core/model/storage.ts'
import { snapshot } from '../harness/embedded-files.ts'
import { temporaryFolder } from '../harness/folder.ts'
import { createDatabase, testServer } from '../harness/test-database.ts'

/** A project that answers in this process: the whole server but its sockets, so that thousands may be asked. */
export interface World {
  readonly model: Model
  readonly storage: Storage
  readonly database: Database
  readonly responders: readonly Responder[]
  ask(method: string, path: string, asking?: Asking): Promise<Reported>
  /** The `data` of an answer to the token `full`; throws where it refuses. */
  make(method: string, path: string, data?: unknown): Promise<Document>
  close(): Promise<void>
}

interface Asking {
  /** The token after `Bearer `; null: anonymous. */
  readonly as?: string | null
  /** Sent as `{ data }`. */
  readonly data?: unknown
  /** Sent as it is, instead of `data`. */
  readonly body?: string
  readonly headers?: Readonly<Record<string, string>>
}

export interface Reported {
  readonly status: number
  readonly text: string
  readonly headers: Readonly<Record<string, string>>
}

export interface Document {
  readonly [key: string]: unknown
  readonly id: number
  readonly documentId: string
}

export const FULL = 'full-conformance-token-0000000000000000'

/**
 * An app with its model, storage and database, which the safety tests compare with its responses; plinth/testing does
 * not have these. `content`: files by their names under content/.
 */
export async function openWorld(
  yaml: string,
  content: Readonly<Record<string, string>> = {},
): Promise<World> {
  const endings: (() => unknown)[] = []
  const teardown: ExecutionContext['teardown'] = end => void endings.unshift(end)
  const folder = temporaryFolder()
  endings.push(() => folder.remove())
  folder.write('project.yaml', yaml)
  for (const [name, text] of Object.entries(content)) folder.write(`content/${name}`, text)
  const server = testServer()
  const url = server ? await createDatabase({ teardown }, server) : 'embedded'
  const blueprint = passed(await compileApp(folder.path, { DATABASE_URL: url }))
  const app = passed(
    await openApp(blueprint, {
      production: false,
      observe: () => {},
      observer: { isEnabled: () => false, emit: () => {} },
      ...(server ? {} : { embedded: { dataDir: 'memory://', snapshot: await snapshot() } }),
    }),
  )
  endings.unshift(() => endApp(app))
  const { database, responders } = app
  const ask = asker(responders)
  return {
    model: blueprint.model,
    storage: blueprint.storage,
    database,
    responders,
    ask,
    async make(method, path, data) {
      const reported = await ask(method, path, { as: FULL, ...(data === undefined ? {} : { data }) })
      if (reported.status >= 300) throw new Error(`${method} ${path}: ${reported.status} ${reported.text}`)
      return (reported.text === '' ? {} : JSON.parse(reported.text).data) as Document
    },
    async close() {
      for (const end of endings) await end()
    },
  }
}

function passed<Value>(result: Result<Value, unknown>): Value {
  if (result.ok) return result.value
  throw new Error(JSON.stringify(result.reasons, null, 2))
}

const asker =
  (responders: readonly Responder[]): World['ask'] =>
  async (method, path, asking = {}) => {
    const request = toRequest(method, path, asking)
    try {
      for (const responder of responders) {
        const answer = responder(request)
        if (answer) return toReported(await answer)
      }
      return { status: 404, text: '', headers: {} }
    } catch (error) {
      if (error instanceof RequestFault) return toReported(toFaultResponse(error.fault))
      return { status: 500, text: String(error instanceof Error ? error.stack : error), headers: {} }
    }
  }

const toReported = ({ status, headers = {}, body }: HttpResponse): Reported => ({
  status,
  headers,
  text: body === null ? '' : String(body),
})

function toRequest(method: string, target: string, asking: Asking): HttpRequest {
  const { as = null, data, headers = {} } = asking
  const mark = target.indexOf('?')
  const text = asking.body ?? (data === undefined ? null : JSON.stringify({ data }))
  return {
    id: 'test',
    method,
    path: mark < 0 ? target : target.slice(0, mark),
    search: mark < 0 ? '' : target.slice(mark + 1),
    headers: {
      ...(text === null ? {} : { 'content-type': 'application/json' }),
      ...(as === null ? {} : { authorization: `Bearer ${as}` }),
      ...headers,
    },
    peer: '127.0.0.1',
    body: async () => Buffer.from(text ?? ''),
    stream: () => {
      throw new TypeError('nothing is uploaded here')
    },
  }
}

export const typeOf = (model: Model, key: string): ContentType => {
  const type = [...model.contentTypes.values()].find(each => each.key === key)
  if (!type) throw new Error(`no type ${key}`)
  return type
}
