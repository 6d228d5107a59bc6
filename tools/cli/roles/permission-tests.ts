import { existsSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { didYouMean } from '../../../core/base/nearest.ts'
import { failed, ok, type Result } from '../../../core/base/result.ts'
import {
  type Diagnostic,
  type Path,
  printDiagnostic,
  type SourceLocation,
} from '../../../core/faults/diagnostic.ts'
import type { ContentType } from '../../../core/model/model.ts'
import { readEnvironment } from '../../../core/project/environment.ts'
import { readYaml, type YamlSource } from '../../../core/project/yaml/read-yaml.ts'
import { createTestApp, type TestAnswer, type TestApp } from '../../../core/testing.ts'
import type { CommandContext } from '../command-terms.ts'
import { complainOf } from './roles.ts'
import { toQuestion } from './roles-answer.ts'
import { printLocation } from './roles-output.ts'
import { loadRoles, type RolesProject, unknownName } from './roles-project.ts'

/** The file of a project with its permissions as expectations. */
export const PERMISSIONS_FILE = join('tests', 'permissions.yaml')

const KINDS = ['may', 'not', 'sees', 'never'] as const
type Kind = (typeof KINDS)[number]

/** A line of the file: what a role is expected to be able to do, or not. */
interface Expectation {
  readonly kind: Kind
  /** `article.find`, `GET /api/articles`, `article/first`, `article.title`. */
  readonly what: string
  /** Of a request. */
  readonly body?: unknown
  readonly place: SourceLocation
}

/** One entry of the file. Entries with equal `as` have users of their own. */
interface Group {
  readonly role: string
  /** Attributes of the user, in addition to the role. */
  readonly user: Readonly<Record<string, unknown>>
  readonly expectations: readonly Expectation[]
}

interface Unmet extends Expectation {
  readonly role: string
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
export async function runPermissionTests(terms: PermissionTestContext): Promise<0 | 1 | 2> {
  const loaded = await loadRoles(terms.folder, terms.env)
  if (!loaded.ok) return complainOf(loaded.reasons, { ...terms, form: 'text' })
  const groups = await readGroups(terms, loaded.value)
  if (!groups.ok) {
    terms.complain(`${groups.reasons.map(printDiagnostic).join('\n\n')}\n`)
    return 1
  }
  const env = Object.fromEntries(
    Object.entries(terms.env).flatMap(([key, value]) => (value === undefined ? [] : [[key, value]])),
  )
  const app = await createTestApp({ project: resolve(terms.folder), env }).catch((error: unknown) => {
    terms.complain(`${error instanceof Error ? error.message : String(error)}\n`)
    return null
  })
  if (app === null) return 1
  try {
    const unmet: Unmet[] = []
    for (const group of groups.value) unmet.push(...(await checkGroup(group, { app, roles: loaded.value })))
    const total = groups.value.reduce((sum, { expectations }) => sum + expectations.length, 0)
    terms.write(terms.json ? `${JSON.stringify(toReport(unmet, total))}\n` : printUnmet(unmet, total, terms))
    return unmet.length === 0 ? 0 : 2
  } finally {
    await app.close()
  }
}

const toReport = (unmet: readonly Unmet[], total: number) => ({
  expectations: total,
  unmet: unmet.map(({ role, kind, what, seen, place }) => ({
    ...{ as: role, kind, what, seen },
    place: { file: place.file, line: place.line, column: place.column },
  })),
})

function printUnmet(unmet: readonly Unmet[], total: number, { paint }: CommandContext): string {
  const lines = unmet.map(
    ({ role, kind, what, seen, place }) =>
      `${paint('red', '✘')} ${printLocation(place)}  ${role} ${SENTENCES[kind]} ${what}: ${seen}`,
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

async function readGroups(
  { folder, env }: CommandContext,
  roles: RolesProject,
): Promise<Result<readonly Group[], Diagnostic>> {
  const file = join(resolve(folder), PERMISSIONS_FILE)
  if (!existsSync(file)) {
    const place = { file: PERMISSIONS_FILE, line: 1, column: 1, source: '' }
    return failed({
      code: 'no-permissions',
      message: 'there is no such file: it lists who may do what',
      path: [],
      place,
    })
  }
  const environment = await readEnvironment(folder, env)
  const source = await readYaml(file, {
    root: resolve(folder),
    environment: environment.ok ? environment.value : env,
  })
  if (!source.ok) return source
  const faults: Diagnostic[] = []
  const groups = toGroups({ source: source.value, roles, faults })
  return faults.length > 0 ? failed(...faults) : ok(groups)
}

interface Parsing {
  readonly source: YamlSource
  readonly roles: RolesProject
  readonly faults: Diagnostic[]
}

const isMapping = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

function report({ source, faults }: Parsing, path: Path, message: string): void {
  faults.push({ code: 'bad-permissions', message, path, place: source.place(path) })
}

function toGroups(parsing: Parsing): readonly Group[] {
  const { value } = parsing.source
  if (!Array.isArray(value)) {
    report(parsing, [], 'expected a list of entries with `as`, `may`, `not`, `sees` and `never`')
    return []
  }
  return value.flatMap((entry: unknown, at) => {
    if (isMapping(entry)) return toGroup(entry, [at], parsing)
    report(parsing, [at], 'expected a mapping with `as`')
    return []
  })
}

function toGroup(entry: Readonly<Record<string, unknown>>, path: Path, parsing: Parsing): readonly Group[] {
  for (const key of Object.keys(entry))
    if (key !== 'as' && !KINDS.some(kind => kind === key))
      report(parsing, [...path, key], `unknown key \`${key}\`${didYouMean(key, ['as', ...KINDS])}`)
  const { role, ...user } = isMapping(entry.as) ? entry.as : { role: entry.as }
  const known = parsing.roles.explainer.holders.flatMap(({ kind, key }) => (kind === 'role' ? [key] : []))
  if (typeof role !== 'string' || !known.includes(role)) {
    const message =
      typeof role === 'string' ? unknownName('role', role, known) : '`as` is a role, or a mapping with `role`'
    report(parsing, [...path, 'as'], message)
    return []
  }
  const expectations = KINDS.flatMap(kind =>
    toExpectations(entry[kind] ?? [], { kind, path: [...path, kind] }, parsing),
  )
  return [{ role, user, expectations }]
}

function toExpectations(
  given: unknown,
  { kind, path }: { readonly kind: Kind; readonly path: Path },
  parsing: Parsing,
): readonly Expectation[] {
  const items: readonly unknown[] = Array.isArray(given) ? given : [given]
  return items.flatMap((item, at) => {
    const own = Array.isArray(given) ? [...path, at] : path
    const { request, body, ...rest } = isMapping(item) ? item : { request: item, body: undefined }
    const what = typeof request === 'string' ? request.trim() : ''
    const fault =
      what === '' || Object.keys(rest).length > 0
        ? 'expected a text, or a mapping with `request` and `body`'
        : faultOf(what, kind, parsing.roles)
    if (fault === null)
      return [{ kind, what, place: parsing.source.place(own), ...(body !== undefined && { body }) }]
    report(parsing, own, fault)
    return []
  })
}

const REQUEST = /^(GET|HEAD|POST|PUT|PATCH|DELETE) (\/\S*)$/

/** Why an expectation means nothing; null: it does. */
function faultOf(what: string, kind: Kind, roles: RolesProject): string | null {
  if (kind === 'may' || kind === 'not') {
    if (REQUEST.test(what)) return null
    const [type = '', action = '', ...rest] = what.split('.')
    if (action === '' || rest.length > 0)
      return `\`${what}\` is neither \`<type>.<action>\` nor a request such as \`GET /api/articles\``
    const question = toQuestion({ type, action, field: undefined }, roles)
    return question.ok ? null : question.reasons.join('; ')
  }
  const [name = '', attribute] = what.split(/[./]/)
  const subject = roles.explainer.subjects.find(each => each.name === name)
  if (!subject?.type)
    return unknownName(
      'type',
      name,
      roles.explainer.subjects.flatMap(each => (each.type ? [each.name] : [])),
    )
  if (!what.includes('.') || subject.type.attributes.has(attribute ?? '')) return null
  return unknownName(`attribute of \`${name}\``, attribute ?? '', [...subject.type.attributes.keys()])
}

interface CheckTerms {
  readonly app: TestApp
  readonly roles: RolesProject
}

async function checkGroup(group: Group, terms: CheckTerms): Promise<readonly Unmet[]> {
  const token = await tokenFor(group, terms.app)
  const unmet: Unmet[] = []
  for (const expectation of group.expectations) {
    const seen = await contradiction(expectation, { ...terms, token, role: group.role })
    if (seen !== null) unmet.push({ ...expectation, role: group.role, seen })
  }
  return unmet
}

/** Creates a user of the role and signs in; undefined: the public. */
async function tokenFor({ role, user }: Group, { app, request }: TestApp): Promise<string | undefined> {
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

interface AskTerms extends CheckTerms {
  readonly token: string | undefined
  readonly role: string
}

/** What contradicts the expectation; null: it holds. */
async function contradiction(expectation: Expectation, terms: AskTerms): Promise<string | null> {
  const { kind, what } = expectation
  if (kind === 'may' || kind === 'not') {
    const [allowed, seen] = REQUEST.test(what) ? await ask(expectation, terms) : decide(what, terms)
    return allowed === (kind === 'may') ? null : seen
  }
  const visible = await findVisible(what, terms)
  return (visible !== null) === (kind === 'sees') ? null : (visible ?? 'nothing of it is answered')
}

type Decided = readonly [allowed: boolean, seen: string]

function decide(what: string, { roles, role }: AskTerms): Decided {
  const [type = '', action = ''] = what.split('.')
  const question = toQuestion({ type, action, field: undefined }, roles)
  if (!question.ok) throw new TypeError(question.reasons.join('; '))
  const explained = roles.explainer.explain(
    { kind: 'role', key: role },
    question.value.subject,
    question.value.action,
  )
  const line = printLocation(roles.project.keyPlace(explained.path))
  return [explained.allowed, `${explained.allowed ? 'granted' : 'not granted'} (${line})`]
}

const DENIED: readonly number[] = [401, 403, 404, 405]

async function ask({ what, body }: Expectation, { app, token }: AskTerms): Promise<Decided> {
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

/** The most documents that are looked at for one expectation. */
const PAGE = 100

/** What of `article`, `article/first` or `article.title` is answered; null: nothing. */
async function findVisible(what: string, { app, roles, token }: AskTerms): Promise<string | null> {
  const [name = '', part = ''] = what.split(/[./]/)
  const type = roles.explainer.subjects.find(each => each.name === name)?.type
  if (!type) throw new TypeError(name)
  const { prefix } = roles.project.settings.rest
  const attribute = what.includes('.') ? part : null
  const place = `${prefix}${pathOf(type)}${what.includes('/') ? `/${encodeURIComponent(part)}` : ''}`
  for (const status of type.draftAndPublish ? ['published', 'draft'] : ['published']) {
    const path = `${place}?${queryOf(type, attribute, { status, isList: !what.includes('/') })}`
    const { status: code, body } = await app.request('GET', path, token === undefined ? {} : { token })
    const found = code === 200 ? documentsIn(body) : []
    const shown = found.find(document => attribute === null || document[attribute] !== undefined)
    if (shown)
      return `${status === 'draft' ? 'the draft ' : ''}${String(shown.documentId ?? shown.id)} is answered`
  }
  return null
}

const pathOf = ({ kind, key, pluralApiId, builtIn, uid }: ContentType): string => {
  if (uid === 'plugin::upload.file') return '/upload/files'
  if (builtIn) return uid === 'plugin::users-permissions.user' ? '/users' : `/${pluralApiId}`
  return kind === 'single' ? `/${key}` : `/${pluralApiId}`
}

interface Listed {
  readonly status: string
  readonly isList: boolean
}

function queryOf(type: ContentType, attribute: string | null, { status, isList }: Listed): string {
  const search = new URLSearchParams()
  if (type.draftAndPublish) search.set('status', status)
  const isMany = type.kind === 'collection' && isList
  if (type.localized && isMany) search.set('locale', '*')
  if (isMany) search.set(type.builtIn ? 'limit' : 'pagination[pageSize]', String(PAGE))
  const isScalar = attribute !== null && type.attributes.get(attribute)?.kind === 'scalar'
  if (attribute !== null) search.set(isScalar ? 'fields[0]' : 'populate[0]', attribute)
  return search.toString()
}

type AnsweredDocument = Readonly<Record<string, unknown>>

function documentsIn(body: unknown): readonly AnsweredDocument[] {
  const { data = body } = Object(body) as { data?: unknown }
  return (Array.isArray(data) ? data : [data]).filter(isMapping)
}
