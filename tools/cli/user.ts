import { randomBytes } from 'node:crypto'
import { text as readText } from 'node:stream/consumers'
import type { Caller } from '../../core/access/caller.ts'
import { fullAccessGrants } from '../../core/access/compile/compile-access.ts'
import { parseTopPage } from '../../core/actions/parameters/parse-pagination.ts'
import { parseSharedQuery } from '../../core/actions/parameters/parse-query.ts'
import { type Blueprint, compileApp } from '../../core/app/compile-app.ts'
import { openMailSection, openSignIn } from '../../core/app/sections.ts'
import { printStartFault } from '../../core/app/start-fault.ts'
import { failed, ok, type Result } from '../../core/base/result.ts'
import type { Database } from '../../core/database/database.ts'
import { openDocuments } from '../../core/documents/open-documents.ts'
import { unknownName } from '../../core/explain/roles-project.ts'
import { fromWorkingDirectory, printDiagnostic } from '../../core/faults/diagnostic.ts'
import { RequestFault } from '../../core/faults/fault.ts'
import { findAccount } from '../../core/identity/users/accounts.ts'
import { userDocuments } from '../../core/identity/users/user-documents.ts'
import { openUsersService, type UsersService } from '../../core/identity/users/users-service.ts'
import { SILENT } from '../../core/observe/observation.ts'
import type { CommandContext } from './command-options.ts'
import { isNeverStarted, withDatabase } from './project-database.ts'
import { prepareTransfer } from './transfer-project.ts'

/** `who`: a username or mail address. */
export type UserChange =
  | { readonly kind: 'list'; readonly role: string | null; readonly blocked: boolean }
  | {
      readonly kind: 'add'
      readonly username: string
      readonly email: string
      /** null: the role of registration. */
      readonly role: string | null
      /** The password is the first line of the standard input; otherwise it is generated and printed. */
      readonly readsPassword: boolean
    }
  | { readonly kind: 'role'; readonly who: string; readonly role: string }
  | { readonly kind: 'block' | 'unblock'; readonly who: string }

export interface UserCommand extends CommandContext {
  readonly json: boolean
  readonly input: () => AsyncIterable<Uint8Array | string>
}

/** `plinth user`: lists or changes users. Returns the exit code: 0, 1 for faults and refusals, 2 for unknown names. */
export async function runUser(options: UserCommand, change: UserChange): Promise<0 | 1 | 2> {
  const compiled = await compileApp(options.folder, options.env)
  if (!compiled.ok) {
    options.writeError(
      `${compiled.reasons.map(fromWorkingDirectory(options.folder)).map(printDiagnostic).join('\n\n')}\n`,
    )
    return 1
  }
  const blueprint = compiled.value
  const unknown = unknownRole(change, blueprint)
  if (unknown !== null) {
    options.writeError(`${unknown}\n`)
    return 2
  }
  if (isNeverStarted(blueprint.project)) {
    options.writeError('The embedded database of this project was never started: run `plinth start` first\n')
    return 1
  }
  const password = change.kind === 'add' ? await passwordFor(change, options) : null
  const done = await withDatabase(
    blueprint.project,
    database => changeUsers(change, { password, blueprint, database }),
    options,
  )
  const result = done.ok ? done.value : done
  if (!result.ok) {
    options.writeError(`${result.reasons.join('\n')}\n`)
    return 1
  }
  options.write(options.json ? `${JSON.stringify(result.value)}\n` : printUsers(change, result.value))
  return 0
}

function unknownRole(change: UserChange, { project }: Blueprint): string | null {
  const role = 'role' in change ? change.role : null
  const known = Object.keys(project.settings.roles)
  return role === null || known.includes(role) ? null : unknownName('role', role, known)
}

/** 128 random bits, which no policy of passwords refuses for its length. */
const newPassword = (): string => randomBytes(16).toString('base64url')

async function passwordFor(
  { readsPassword }: { readsPassword: boolean },
  { input }: UserCommand,
): Promise<string> {
  if (!readsPassword) return newPassword()
  const [line = ''] = (await readText(input())).split(/\r?\n/)
  return line
}

interface ListedUser {
  readonly id: number
  readonly username: string
  readonly email: string
  readonly role: string | null
  readonly blocked: boolean
  readonly confirmed: boolean
  /** Only of a new user whose password was generated. */
  readonly password?: string
}

interface ChangeOptions {
  readonly blueprint: Blueprint
  readonly database: Database
  readonly password: string | null
}

async function changeUsers(
  change: UserChange,
  { password, blueprint, database }: ChangeOptions,
): Promise<Result<readonly ListedUser[], string>> {
  const opened = await openUsers(blueprint, database)
  if (!opened.ok) return opened
  const users = opened.value
  try {
    if (change.kind === 'list') return ok(await listUsers(change, users, blueprint))
    if (change.kind === 'add') {
      const { username, email, readsPassword } = change
      const role = change.role ?? blueprint.project.settings.auth.register.role
      const body = { username, email, password, role, confirmed: true }
      const created = toListed(await users.service.create(body, users.caller))
      return ok(created.map(user => (readsPassword || password === null ? user : { ...user, password })))
    }
    const account = await findAccount(database, { by: 'identifier', text: change.who }, blueprint)
    if (!account) return failed(`There is no user with the name or the mail address \`${change.who}\``)
    const body = change.kind === 'role' ? { role: change.role } : { blocked: change.kind === 'block' }
    return ok(toListed(await users.service.update(account.id, { body, caller: users.caller })))
  } catch (error) {
    if (!(error instanceof RequestFault)) throw error
    const { message, details } = error.fault
    const rules: readonly { readonly message: string }[] = Array.isArray(details.errors) ? details.errors : []
    return failed(...(rules.length > 0 ? rules.map(rule => rule.message) : [message]))
  }
}

interface OpenUsers {
  readonly service: UsersService
  readonly caller: Caller
}

/** The users of REST, for a caller who may do everything. Nothing is migrated. */
async function openUsers(blueprint: Blueprint, database: Database): Promise<Result<OpenUsers, string>> {
  const prepared = await prepareTransfer(blueprint, database, { events: true, dryRun: true })
  if (!prepared.ok) return failed(...prepared.reasons.map(printStartFault))
  const { outbox } = prepared.value
  const { project, model, storage } = blueprint
  const auth = { ...project.settings.auth, jwtSecret: randomBytes(32).toString('hex') }
  const signing = { ...blueprint, project: { ...project, settings: { ...project.settings, auth } } }
  const options = { production: false, observer: SILENT }
  const mail = openMailSection(signing, { ...options, deliver: async () => ({ accepted: [], rejected: [] }) })
  const signIn = await openSignIn(signing, options)
  if (!signIn.ok || !mail.ok)
    return failed(...[signIn, mail].flatMap(each => (each.ok ? [] : each.reasons.map(printStartFault))))
  const identity = signIn.value(database, outbox, mail.value)
  const maxBytes = project.settings.database.limits.bytes
  const plain = openDocuments({ database, storage, model, outbox, cache: null, maxBytes })
  const documents = userDocuments(plain, identity)
  return ok({
    service: openUsersService({ identity, documents, countAttempt: async () => null }),
    caller: { kind: 'token', grants: fullAccessGrants(model), user: null },
  })
}

/** All users by name, in pages. */
async function listUsers(
  { role, blocked }: Extract<UserChange, { kind: 'list' }>,
  { service, caller }: OpenUsers,
  { model, project }: Blueprint,
): Promise<readonly ListedUser[]> {
  const filters = { ...(role !== null && { role: { type: role } }), ...(blocked && { blocked: true }) }
  const shared = parseSharedQuery(
    model.builtIn.user,
    { filters, populate: ['role'], sort: ['username'] },
    { model, settings: project.settings.rest },
  )
  const found: ListedUser[] = []
  for (;;) {
    const page = parseTopPage({ start: String(found.length), limit: String(PAGE) }, PAGE)
    const query = { ...shared, take: { kind: 'many', page, total: false }, locale: { kind: 'all' } } as const
    const users = toListed(await service.findMany(query, caller))
    found.push(...users)
    if (users.length < PAGE) return found
  }
}

const PAGE = 1_000

type AnsweredUser = Omit<ListedUser, 'role' | 'blocked' | 'confirmed'> & {
  readonly blocked: boolean | null
  readonly confirmed: boolean | null
  readonly role?: { readonly type: string } | null
}

function toListed(text: string | null): readonly ListedUser[] {
  const parsed: AnsweredUser | readonly AnsweredUser[] = JSON.parse(text ?? '[]')
  const users = Array.isArray(parsed) ? (parsed as readonly AnsweredUser[]) : [parsed as AnsweredUser]
  return users.map(({ id, username, email, role, blocked, confirmed }) => ({
    ...{ id, username, email, role: role?.type ?? null },
    ...{ blocked: blocked === true, confirmed: confirmed === true },
  }))
}

function printUsers({ kind }: UserChange, users: readonly ListedUser[]): string {
  const rows = users.map(({ username, email, role, blocked, confirmed }) => [
    username,
    email,
    role ?? 'no role',
    [...(blocked ? ['blocked'] : []), ...(confirmed ? [] : ['not confirmed'])].join(', '),
  ])
  const widths = [0, 1, 2].map(column => Math.max(0, ...rows.map(row => row[column]?.length ?? 0)))
  const lines = rows.map(row =>
    row
      .map((cell, at) => cell.padEnd(widths[at] ?? 0))
      .join('  ')
      .trimEnd(),
  )
  const password = users[0]?.password
  const shown = password === undefined ? [] : ['', `The password, shown only now: ${password}`]
  const none = kind === 'list' && lines.length === 0 ? ['No users.'] : []
  return `${[...lines, ...none, ...shown].join('\n')}\n`
}
