import { randomBytes } from 'node:crypto'
import { resolve } from 'node:path'
import { isRecord } from '../../../core/base/plain-data.ts'
import { toQuestion } from '../../../core/explain/answer.ts'
import { loadRoles, type RolesProject } from '../../../core/explain/roles-project.ts'
import { printDiagnostic } from '../../../core/faults/diagnostic.ts'
import type { ContentType } from '../../../core/model/model.ts'
import { createTestApp, type TestAnswer, type TestApp } from '../../../core/testing.ts'
import type { CommandContext } from '../command-options.ts'
import { type Expectation, type Group, type Kind, REQUEST, readGroups } from './permission-file.ts'
import { complainOf } from './roles.ts'
import { printLocation } from './roles-output.ts'

interface Unmet extends Expectation {
  /** `editor`, `token website`. */
  readonly as: string
  /** What the server did instead. */
  readonly seen: string
}

export interface PermissionTestContext extends CommandContext {
  readonly json: boolean
}

/**
 * `plinth test`: checks tests/permissions.yaml on an embedded database in memory with content/. Returns the exit code: 0
 * if all expectations hold, 1 for faults of the project or of the file, 2 if an expectation does not hold.
 */
export async function runPermissionTests(options: PermissionTestContext): Promise<0 | 1 | 2> {
  const loaded = await loadRoles(options.folder, options.env)
  if (!loaded.ok) return complainOf(loaded.reasons, { ...options, form: 'text' })
  const groups = await readGroups(options, loaded.value)
  if (!groups.ok) {
    options.writeError(`${groups.reasons.map(printDiagnostic).join('\n\n')}\n`)
    return 1
  }
  const env = Object.fromEntries(
    Object.entries(options.env).flatMap(([key, value]) => (value === undefined ? [] : [[key, value]])),
  )
  const { apiTokens } = loaded.value.project.settings
  const tokens = Object.fromEntries(
    Object.keys(apiTokens).map(name => [name, randomBytes(32).toString('hex')]),
  )
  const project = resolve(options.folder)
  const app = await createTestApp({ project, env, tokens }).catch((error: unknown) => {
    options.writeError(`${error instanceof Error ? error.message : String(error)}\n`)
    return null
  })
  if (app === null) return 1
  try {
    const unmet: Unmet[] = []
    for (const group of groups.value)
      unmet.push(...(await checkGroup(group, { app, roles: loaded.value, tokens })))
    const total = groups.value.reduce((sum, { expectations }) => sum + expectations.length, 0)
    options.write(
      options.json ? `${JSON.stringify(toReport(unmet, total))}\n` : printUnmet(unmet, total, options),
    )
    return unmet.length === 0 ? 0 : 2
  } finally {
    await app.close()
  }
}

const toReport = (unmet: readonly Unmet[], total: number) => ({
  expectations: total,
  unmet: unmet.map(({ as, kind, what, seen, location }) => ({
    ...{ as, kind, what, seen },
    location: { file: location.file, line: location.line, column: location.column },
  })),
})

function printUnmet(unmet: readonly Unmet[], total: number, { paint }: CommandContext): string {
  const lines = unmet.map(
    ({ as, kind, what, seen, location }) =>
      `${paint('red', '✘')} ${printLocation(location)}  ${as} ${SENTENCES[kind]} ${what}: ${seen}`,
  )
  const held = `${total - unmet.length} of ${total} expectations hold`
  return `${[...lines, paint(unmet.length === 0 ? 'green' : 'red', held)].join('\n')}\n`
}

const SENTENCES: Readonly<Record<Kind, string>> = {
  may: 'may',
  not: 'may not',
  sees: 'sees',
  never: 'never sees',
}

interface CheckOptions {
  readonly app: TestApp
  readonly roles: RolesProject
  /** The secrets of the API tokens on this server, by name. */
  readonly tokens: Readonly<Record<string, string>>
}

async function checkGroup(group: Group, options: CheckOptions): Promise<readonly Unmet[]> {
  const { kind, key } = group.holder
  const token =
    kind === 'token' ? options.tokens[key] : await tokenFor({ role: key, user: group.user }, options.app)
  const unmet: Unmet[] = []
  for (const expectation of group.expectations) {
    const seen = await contradiction(expectation, { ...options, token, holder: group.holder })
    if (seen !== null) unmet.push({ ...expectation, as: kind === 'token' ? `token ${key}` : key, seen })
  }
  return unmet
}

/** Creates a user of the role and signs in; undefined: the public. */
async function tokenFor(
  { role, user }: { readonly role: string; readonly user: Group['user'] },
  { app, request }: TestApp,
): Promise<string | undefined> {
  if (role === 'public') return undefined
  const found = await app.documents('plugin::users-permissions.role').findFirst({ filters: { type: role } })
  const name = `tester-${Math.random().toString(36).slice(2)}`
  const password = `${name}-password`
  const base = { username: name, email: `${name}@example.org`, confirmed: true, provider: 'local' }
  const data = { ...base, ...user, password, role: found?.documentId ?? null }
  const created = await app.documents('plugin::users-permissions.user').create({ data })
  // Each test user signs in once: the limit of sign-ins is not what is tested.
  await app.sequelize.query('DELETE FROM plinth_rate_limits')
  const answer = await request('POST', '/api/auth/local', {
    body: { identifier: String(created.username), password },
  })
  const { jwt } = Object(answer.body) as { jwt?: string }
  if (jwt === undefined)
    throw new Error(`the test user of ${role} could not sign in: ${JSON.stringify(answer.body)}`)
  return jwt
}

interface AskOptions extends CheckOptions {
  readonly token: string | undefined
  readonly holder: Group['holder']
}

/** What contradicts the expectation; null: it holds. */
async function contradiction(expectation: Expectation, options: AskOptions): Promise<string | null> {
  const { kind, what } = expectation
  if (kind === 'may' || kind === 'not') {
    const [allowed, seen] = REQUEST.test(what) ? await ask(expectation, options) : decide(what, options)
    return allowed === (kind === 'may') ? null : seen
  }
  const visible = await findVisible(what, options)
  return (visible !== null) === (kind === 'sees') ? null : (visible ?? 'nothing of it is answered')
}

type Decided = readonly [allowed: boolean, seen: string]

function decide(what: string, { roles, holder }: AskOptions): Decided {
  const [type = '', action = ''] = what.split('.')
  const question = toQuestion({ type, action, field: undefined }, roles)
  if (!question.ok) throw new TypeError(question.reasons.join('; '))
  const explained = roles.explainer.explain(holder, question.value.subject, question.value.action)
  const line = printLocation(roles.project.keyLocation(explained.path))
  return [explained.allowed, `${explained.allowed ? 'granted' : 'not granted'} (${line})`]
}

const DENIED: readonly number[] = [401, 403, 404, 405]

async function ask({ what, body }: Expectation, { app, token }: AskOptions): Promise<Decided> {
  const [, method = '', path = ''] = REQUEST.exec(what) ?? []
  const isWrite = method === 'POST' || method === 'PUT'
  const answer = await app.request(method, path, {
    ...(token !== undefined && { token }),
    ...((isWrite || body !== undefined) && { body: body ?? { data: {} } }),
  })
  return [!DENIED.includes(answer.status), `the server answers ${answer.status}${messageOf(answer)}`]
}

function messageOf({ body }: TestAnswer): string {
  const { error } = Object(body) as { error?: { message?: string } }
  return error?.message ? ` ${error.message}` : ''
}

/** Documents in one request; `rest.maxLimit` may allow fewer. */
const PAGE = 100

/** What of `article`, `article/first` or `article.title` is answered; null: nothing. */
async function findVisible(what: string, { app, roles, token }: AskOptions): Promise<string | null> {
  const [name = '', part = ''] = what.split(/[./]/)
  const type = roles.explainer.subjects.find(each => each.name === name)?.type
  if (!type) throw new TypeError(name)
  const { prefix } = roles.project.settings.rest
  const attribute = what.includes('.') ? part : null
  const place = `${prefix}${pathOf(type)}${what.includes('/') ? `/${encodeURIComponent(part)}` : ''}`
  const isList = type.kind === 'collection' && !what.includes('/')
  for (const status of type.draftAndPublish ? ['published', 'draft'] : ['published']) {
    const ask = async (start: number | null): Promise<readonly AnsweredDocument[]> => {
      const path = `${place}?${queryOf(type, attribute, { status, start })}`
      const answer = await app.request('GET', path, token === undefined ? {} : { token })
      return answer.status === 200 ? documentsIn(answer.body) : []
    }
    const shows = (document: AnsweredDocument) => attribute === null || document[attribute] !== undefined
    const shown = isList ? await findInPages(ask, shows) : (await ask(null)).find(shows)
    if (shown)
      return `${status === 'draft' ? 'the draft ' : ''}${String(shown.documentId ?? shown.id)} is answered`
  }
  return null
}

/** Reads every page: the only document that shows the attribute may be the last one. */
async function findInPages(
  ask: (start: number) => Promise<readonly AnsweredDocument[]>,
  shows: (document: AnsweredDocument) => boolean,
): Promise<AnsweredDocument | undefined> {
  for (let start = 0; ; ) {
    const page = await ask(start)
    const shown = page.find(shows)
    if (shown || page.length === 0) return shown
    start += page.length
  }
}

const pathOf = ({ kind, key, pluralApiId, builtIn, uid }: ContentType): string => {
  if (uid === 'plugin::upload.file') return '/upload/files'
  if (builtIn) return uid === 'plugin::users-permissions.user' ? '/users' : `/${pluralApiId}`
  return kind === 'single' ? `/${key}` : `/${pluralApiId}`
}

interface Listed {
  readonly status: string
  /** The number of documents before a page of a list; null: no list. */
  readonly start: number | null
}

function queryOf(type: ContentType, attribute: string | null, { status, start }: Listed): string {
  const search = new URLSearchParams()
  if (type.draftAndPublish) search.set('status', status)
  if (type.localized && start !== null) search.set('locale', '*')
  if (start !== null) {
    search.set(type.builtIn ? 'start' : 'pagination[start]', String(start))
    search.set(type.builtIn ? 'limit' : 'pagination[limit]', String(PAGE))
  }
  const isScalar = attribute !== null && type.attributes.get(attribute)?.kind === 'scalar'
  if (attribute !== null) search.set(isScalar ? 'fields[0]' : 'populate[0]', attribute)
  return search.toString()
}

type AnsweredDocument = Readonly<Record<string, unknown>>

function documentsIn(body: unknown): readonly AnsweredDocument[] {
  const { data = body } = Object(body) as { data?: unknown }
  return (Array.isArray(data) ? data : [data]).filter(isRecord)
}
