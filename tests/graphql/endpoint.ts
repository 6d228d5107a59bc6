import { Readable } from 'node:stream'
import type { ExecutionContext } from 'ava'
import { type GraphQLSchema, graphql } from 'graphql'
import type { Caller } from '../../core/access/caller.ts'
import { compileAccess } from '../../core/access/compile/compile-access.ts'
import type { Database } from '../../core/database/database.ts'
import { NO_OUTBOX } from '../../core/documents/outbox.ts'
import type { HttpResponse } from '../../core/faults/http-exchange.ts'
import { compileGenerated } from '../../core/graphql/compile-schema.ts'
import { buildSchema } from '../../core/graphql/connect-schema.ts'
import { FORMATS } from '../../core/graphql/formats/format.ts'
import { type GraphqlOptions, openGraphql } from '../../core/graphql/open-graphql.ts'
import type { TrustedDocuments } from '../../core/graphql/transport/trusted-documents.ts'
import { openFiles } from '../../core/media/files.ts'
import { openLocalStorage } from '../../core/media/storage/open-storage.ts'
import { stagingFolder } from '../../core/media/storage/staging.ts'
import { compileStorage } from '../../core/model/compile-storage.ts'
import type { Model } from '../../core/model/model.ts'
import type { UploadSettings } from '../../core/project/settings/settings.ts'
import { openWriting } from '../documents/writing.ts'
import { answerOf } from '../harness/answer-of.ts'
import { temporaryFolder } from '../harness/folder.ts'
import { compiled } from '../model/compiled.ts'
import { declare } from '../model/declare.ts'

export interface Sent {
  readonly method?: string
  readonly path?: string
  readonly accept?: string
  readonly search?: string
  readonly type?: string
  readonly text?: string
  /** The key of a role. */
  readonly as?: string | undefined
}

/** Files below a folder that goes with its test. */
function openTestFiles(t: ExecutionContext, model: Model, settings: UploadSettings, database: Database) {
  const folder = temporaryFolder()
  t.teardown(folder.remove)
  const storage = compileStorage(model)
  const files = openLocalStorage(folder.path)
  return openFiles({
    database,
    model,
    storage,
    settings,
    files,
    staging: stagingFolder(folder.path),
    outbox: NO_OUTBOX,
    report: error => t.fail(String(error)),
  })
}

/** Signing in and users are there on a whole server alone: sign-in.test.ts. */
const absent = (): never => {
  throw new Error('not in this endpoint')
}

/** The answers of graphql-js to queries, each field by its resolver. */
function byField(options: GraphqlOptions, caller: Caller) {
  let schema: GraphQLSchema | undefined
  return async (source: string): Promise<string> => {
    const [format = 'nested'] = Object.values(options.settings.endpoints)
    schema ??= buildSchema(compileGenerated({ ...options, format }), {
      ...options,
      format: FORMATS[format],
      limits: options.settings.config,
    })
    const contextValue = { caller, requestId: 'test', peer: '127.0.0.1' }
    const { data } = await graphql({ schema, source, contextValue })
    return JSON.stringify({ data })
  }
}

interface Options {
  readonly production?: boolean
  readonly trusted?: TrustedDocuments
}

/**
 * The GraphQL endpoint of a project on an empty database; requests are anonymous or name a role. It is below the app,
 * because tests compare its responses with graphql-js over the same schema, and read the database and observations.
 */
export async function openEndpoint(
  t: ExecutionContext,
  yaml: string,
  { production = false, trusted }: Options = {},
) {
  const project = await declare(yaml)
  const model = compiled(project)
  const access = compileAccess(project, model)
  if (!access.ok) throw new Error(access.reasons.map(({ message }) => message).join('\n'))
  const { publicCaller: anonymous, roles } = access.value
  const writing = await openWriting(t, model)
  const troubles: unknown[] = []
  const options: GraphqlOptions = {
    model,
    settings: project.settings.graphql,
    documents: writing.documents,
    auth: { request: absent, countAttempt: absent, perform: absent, answerSession: absent, me: absent },
    users: {
      findMany: absent,
      count: absent,
      findOne: absent,
      me: absent,
      create: absent,
      update: absent,
      delete: absent,
    },
    files: openTestFiles(t, model, project.settings.upload, writing.database),
    identify: async authorization => {
      const grants = roles.get(authorization ?? '')
      return grants ? { kind: 'user', grants, user: null } : anonymous
    },
    production,
    ...(trusted && { trusted }),
    observer: { isEnabled: () => true, emit: observation => troubles.push(observation) },
  }
  const [[endpoint, format] = ['/graphql', 'nested'] as const] = Object.entries(options.settings.endpoints)
  const respond = openGraphql(options, { path: endpoint, format })
  const send = async ({
    method = 'POST',
    path = endpoint,
    search = '',
    type,
    text = '',
    as,
    accept,
  }: Sent): Promise<HttpResponse | null> =>
    answerOf(respond, {
      id: 'test',
      method,
      path,
      search,
      headers: {
        ...(type === undefined ? {} : { 'content-type': type }),
        ...(as === undefined ? {} : { authorization: as }),
        ...(accept === undefined ? {} : { accept }),
      },
      peer: '127.0.0.1',
      body: async () => Buffer.from(text),
      stream: () => Readable.from([text]),
    })
  const json = (answer: HttpResponse | null) => JSON.parse(String(answer?.body))
  return {
    ...writing,
    troubles,
    byField: byField(options, { kind: 'public', grants: anonymous.grants, user: null }),
    respond,
    send,
    post: async (body: unknown) => {
      const answer = await send({ type: 'application/json', text: JSON.stringify(body) })
      return { status: answer?.status, body: json(answer) }
    },
    ask: async (query: string, variables: Readonly<Record<string, unknown>> = {}, as?: string) =>
      json(await send({ type: 'application/json', text: JSON.stringify({ query, variables }), as })),
  }
}
