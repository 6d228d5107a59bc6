import { statSync } from 'node:fs'
import { mkdtemp, readdir, rm, symlink, writeFile } from 'node:fs/promises'
import type { IncomingHttpHeaders } from 'node:http'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { type Blueprint, compileApp } from './app/compile-app.ts'
import { observerOf } from './app/observers.ts'
import { type App, endApp, openObserved } from './app/open-app.ts'
import { printStartFault, type StartFault } from './app/start-fault.ts'
import { dispatcherOptionsOf, healthResponder, outdatedResponder } from './app/start-service.ts'
import { didYouMean } from './base/nearest.ts'
import { isRecord } from './base/plain-data.ts'
import { canBeSent } from './base/tokens.ts'
import { openInMemory } from './http/in-memory.ts'
import { openHttpServer, type RunningServer } from './http/server.ts'
import type { Deliver, Mail } from './mail/mail.ts'
import { printReuse } from './migrate/empty-tables.ts'
import type { Observer } from './observe/observation.ts'
import type { PluginApp } from './plugins/context.ts'
import { assertKnownKeys, nameType } from './plugins/plugin-module.ts'

export type { PluginApp } from './plugins/context.ts'

export interface TestAppOptions {
  /** The folder of a project.yaml, or the content of one as an object. */
  readonly project: string | Readonly<Record<string, unknown>>
  /** If `project` is an object: the folder with its policies/, middlewares/, extensions/ and mails/, and what these import. */
  readonly plugins?: string
  /** The URL of a PostgreSQL database of the test's own; without it an embedded one in memory, gone when closed. */
  readonly database?: string
  /** Variables for `${…}` in project.yaml, in addition to the environment of the process. */
  readonly env?: Readonly<Record<string, string>>
  /**
   * Secrets of API tokens, by name, instead of those that the file declares, perhaps as a hash only: a test acts as such a
   * token without its real secret.
   */
  readonly tokens?: Readonly<Record<string, string>>
  /** A snapshot of an empty embedded database, so that a test does not make one: PGlite's `dumpDataDir`. */
  readonly snapshot?: Blob
  /** Delivers mails as the server does, by `auth.mail`. By default none leaves the process: see `mails`. */
  readonly sendsMails?: boolean
  /** Also listens on a free port of 127.0.0.1, for clients that need a URL. */
  readonly listen?: boolean
}

/** A project that runs inside the test's process. */
export interface TestApp {
  /** `http://127.0.0.1:PORT` with `listen`, else null. */
  readonly url: string | null
  /** Answers as the server would. `path`: with the prefix and the query string, `/api/articles?sort=title`. */
  request(method: string, path: string, options?: TestRequest): Promise<TestAnswer>
  /** The server, as plugins see it: `app.documents('api::article.article')`. */
  readonly app: PluginApp
  /** Runs an operation of GraphQL. */
  graphql(
    query: string,
    variables?: Readonly<Record<string, unknown>>,
    request?: Omit<TestRequest, 'body'>,
  ): Promise<TestResult>
  /** The mails sent until now, account mails included; empty with `sendsMails`. */
  readonly mails: readonly TestMail[]
  /** The lines of the server's log until now. */
  log(): readonly string[]
  /** Resolves once listeners of `documents.on` have heard of all that was written. */
  settled(): Promise<void>
  /** Idempotent. */
  close(): Promise<void>
}

/** A mail with its finished texts. */
export type TestMail = Mail

export interface TestRequest {
  /** JSON; a text, bytes, a FormData, URLSearchParams and a Blob go as they are. */
  readonly body?: unknown
  /** A user's or an API token: `Authorization: Bearer`. */
  readonly token?: string
  readonly headers?: Readonly<Record<string, string>>
}

export interface TestAnswer {
  readonly status: number
  /** Names in small letters. */
  readonly headers: IncomingHttpHeaders
  /** Parsed where it is JSON, else the text; null where there is none. */
  readonly body: unknown
}

/** The result of a GraphQL operation. */
export interface TestResult {
  readonly data?: unknown
  readonly errors?: readonly {
    readonly message: string
    readonly path?: readonly (string | number)[]
    readonly extensions: Readonly<Record<string, unknown>>
  }[]
}

/** Starts a project for a test. Rejects with everything that is wrong with it. */
export async function createTestApp(options: TestAppOptions): Promise<TestApp> {
  assertOptions(options)
  const folder = await folderOf(options)
  const lines: string[] = []
  const mails: TestMail[] = []
  const opened = await start(folder.path, options, { lines, mails }).catch(async (error: unknown) => {
    await folder.remove()
    throw error
  })
  const { app, send, server } = opened
  const closeAll = async () => {
    await server?.close(CLOSE_TIMEOUT)
    await endApp(app)
    await folder.remove()
  }
  let closing: Promise<void> | undefined
  const askOpen: Ask = async (method, path, request) => {
    if (closing) throw new Error(`${method} ${path}: the app of this test is closed`)
    return ask(send, method, path, request)
  }
  return {
    url: server?.url ?? null,
    app: app.pluginApp,
    mails,
    log: () => [...lines],
    settled: () => app.events.settled(),
    request: (method, path, request = {}) => askOpen(method, path, request),
    graphql: async (query, variables = {}, request = {}) => {
      const [path = '/graphql'] = Object.keys(app.blueprint.project.settings.graphql.endpoints)
      const { body } = await askOpen('POST', path, { ...request, body: { query, variables } })
      return body as TestResult
    },
    close() {
      closing ??= closeAll()
      return closing
    },
  }
}

const OPTIONS = ['project', 'plugins', 'database', 'env', 'tokens', 'snapshot', 'sendsMails', 'listen']

/** Tests in JavaScript are not type-checked. */
function assertOptions(options: unknown): void {
  const what = 'createTestApp(…)'
  if (!isRecord(options))
    throw new Error(`${what} takes an object with ${OPTIONS.join(', ')}, found ${nameType(options)}`)
  assertKnownKeys(options, OPTIONS, what)
  const { project, plugins } = options
  if (typeof project !== 'string' && !isRecord(project))
    throw new Error(
      `\`project\` of ${what} is the folder of a project.yaml, or its content as an object, found ${nameType(project)}`,
    )
  if (plugins === undefined) return
  if (typeof project === 'string')
    throw new Error(
      `\`plugins\` of ${what} is for a project that is an object: the folder ${project} has its own`,
    )
  const isFolder = statSync(String(plugins), { throwIfNoEntry: false })?.isDirectory() === true
  if (!isFolder) throw new Error(`\`plugins\` of ${what}: there is no folder ${String(plugins)}`)
}

/** Milliseconds that requests in flight have to end. */
const CLOSE_TIMEOUT = 1_000

type Send = Awaited<ReturnType<typeof openInMemory>>['send']

interface Recorded {
  readonly lines: string[]
  readonly mails: TestMail[]
}

async function start(
  folder: string,
  options: TestAppOptions,
  { lines, mails }: Recorded,
): Promise<{ readonly app: App; readonly send: Send; readonly server: RunningServer | null }> {
  const compiled = await compileApp(folder, { DATABASE_URL: 'embedded', ...process.env, ...options.env })
  if (!compiled.ok) throw failure([{ kind: 'files', diagnostics: compiled.reasons }])
  const blueprint = withTokens(
    withDatabase(compiled.value, options.database ?? 'embedded'),
    options.tokens ?? {},
  )
  const observer = observerOf(blueprint, { write: line => void lines.push(line), pretty: false })
  const { database, snapshot } = options
  const opened = await openObserved(blueprint, observer, {
    ...{ production: false, observer },
    ...(database === undefined && { embedded: { ...inMemory(blueprint), ...(snapshot && { snapshot }) } }),
    ...(!options.sendsMails && { deliver: recordInto(mails) }),
  })
  if (!opened.ok) throw failure(opened.reasons)
  const app = opened.value
  const { settings } = blueprint.project
  const host = app.openFallback(observer)
  const responders = [outdatedResponder(app), ...app.responders, healthResponder(app)]
  const { send } = await openInMemory({
    ...app,
    responders,
    settings: settings.server,
    graphql: settings.graphql.endpoints,
    fallback: host,
    observer,
    projectRoot: blueprint.project.root,
  })
  return { app, send, server: options.listen ? await listen(app, observer) : null }
}

/** The tables that the previous app had, too, are used again, without rows: creating them takes most of a start. */
function inMemory({ project, storage, migrations }: Blueprint) {
  const { schema } = project.settings.database
  return {
    dataDir: 'memory://',
    ...(migrations.length === 0 && { reuse: printReuse(schema, storage.tables) }),
  }
}

const recordInto =
  (mails: TestMail[]): Deliver =>
  async mail => {
    mails.push(mail)
    return { accepted: mail.to.map(({ address }) => address), rejected: [] }
  }

async function listen(app: App, observer: Observer): Promise<RunningServer> {
  const options = dispatcherOptionsOf({ app, observer }, { production: false, metrics: null, tracing: null })
  const server = await openHttpServer({
    ...options,
    settings: { ...options.settings, host: '127.0.0.1', port: 0 },
  })
  const listening = await server.listen()
  if (listening.ok) return listening.value
  await endApp(app)
  throw new Error(listening.reasons.join('\n'))
}

/** Unknown names are an error of the test. */
function withTokens(
  { project, ...blueprint }: Blueprint,
  tokens: NonNullable<TestAppOptions['tokens']>,
): Blueprint {
  const { settings } = project
  const input = Object.entries(tokens).map(([name, secret]) => {
    const declared = settings.apiTokens[name]
    if (!declared)
      throw new Error(
        `\`tokens\`: project.yaml declares no API token \`${name}\` under \`apiTokens\`${didYouMean(name, Object.keys(settings.apiTokens))}`,
      )
    // The server takes such a header for one without a credential, and the caller for anonymous.
    if (!canBeSent(secret))
      throw new Error(
        `\`tokens\`: the secret of \`${name}\` is empty, or has a space or a sign outside of ASCII: no request can send it`,
      )
    const { hash: _, ...rest } = declared
    return [name, { ...rest, secret }] as const
  })
  const apiTokens = { ...settings.apiTokens, ...Object.fromEntries(input) }
  return Object.freeze({ ...blueprint, project: { ...project, settings: { ...settings, apiTokens } } })
}

const failure = (faults: readonly StartFault[]): Error => new Error(faults.map(printStartFault).join('\n\n'))

function withDatabase({ project, ...blueprint }: Blueprint, url: string): Blueprint {
  const { settings } = project
  const database = { ...settings.database, url, replicas: [] }
  return Object.freeze({ ...blueprint, project: { ...project, settings: { ...settings, database } } })
}

interface TestFolder {
  readonly path: string
  remove(): Promise<void>
}

/** What the object declares instead, and what a start writes. The rest of the folder has what plugins import. */
const DECLARED: ReadonlySet<string> = new Set(['project.yaml', '.env', '.plinth', 'content', 'migrations'])

/** JSON is YAML. */
async function folderOf({ project, plugins }: TestAppOptions): Promise<TestFolder> {
  if (typeof project === 'string') return { path: project, remove: async () => {} }
  const path = await mkdtemp(join(tmpdir(), 'plinth-test-'))
  await writeFile(join(path, 'project.yaml'), JSON.stringify({ name: 'Test', ...project }))
  for (const name of plugins === undefined ? [] : await readdir(plugins))
    if (!DECLARED.has(name)) await symlink(join(resolve(plugins ?? ''), name), join(path, name))
  return { path, remove: () => rm(path, { recursive: true, force: true }) }
}

type Ask = (method: string, path: string, request: TestRequest) => Promise<TestAnswer>

async function ask(send: Send, method: string, path: string, request: TestRequest): Promise<TestAnswer> {
  assertKnownKeys(request, REQUEST, 'a request')
  assertPath(path)
  const { body, token, headers } = request
  const { bytes, type } = await encode(body)
  const sent = {
    ...(type === null ? {} : { 'content-type': type }),
    ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
    ...headers,
  }
  const answer = await send({ method, path, headers: sent, body: bytes })
  return { status: answer.status, headers: answer.headers, body: decode(answer.body, answer.headers) }
}

const REQUEST = ['body', 'token', 'headers']

/** Node refuses some of these without a word about the path, and sends others as bytes that the server answers 400. */
function assertPath(path: string): void {
  if (!path.startsWith('/'))
    throw new Error(`The path of a request begins with a slash, found ${JSON.stringify(path)}`)
  const [sign] = /[^!-~]/u.exec(path) ?? []
  if (sign !== undefined)
    throw new Error(
      `No request can have ${JSON.stringify(sign)} in its path, found ${JSON.stringify(path)}: write encodeURIComponent(…) round the value, which makes it ${encodeURIComponent(sign)}`,
    )
}

async function encode(body: unknown): Promise<{ bytes: Uint8Array | null; type: string | null }> {
  if (body === undefined) return { bytes: null, type: null }
  if (body instanceof Uint8Array) return { bytes: body, type: null }
  if (!isWritten(body)) {
    const text: string | undefined = JSON.stringify(body)
    if (text === undefined) throw new TypeError(`The body of a request cannot be ${nameType(body)}`)
    return { bytes: Buffer.from(text), type: 'application/json' }
  }
  // A Response knows how a form is written, and how its parts are bounded.
  const encoded = new Response(body)
  return { bytes: Buffer.from(await encoded.arrayBuffer()), type: encoded.headers.get('content-type') }
}

const isWritten = (body: unknown): body is string | FormData | URLSearchParams | Blob =>
  typeof body === 'string' ||
  body instanceof FormData ||
  body instanceof URLSearchParams ||
  body instanceof Blob

function decode(body: Buffer, headers: IncomingHttpHeaders): unknown {
  if (body.length === 0) return null
  const text = body.toString('utf8')
  return /json/.test(headers['content-type'] ?? '') ? JSON.parse(text) : text
}
