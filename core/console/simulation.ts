import type { Caller } from '../access/caller.ts'
import type { PermissionScope } from '../access/permission-scopes.ts'
import { didYouMean } from '../base/nearest.ts'
import { parseJsonText } from '../base/text.ts'
import type { Database } from '../database/database.ts'
import { callerOf, type ExplainedUser, type Principal, toAnswer } from '../explain/answer.ts'
import { answerReport } from '../explain/report.ts'
import type { RolesProject } from '../explain/roles-project.ts'
import { fault, RequestFault } from '../faults/fault.ts'
import { holderNamed } from './describe-permissions.ts'
import { findExplainedUser } from './find-explained-user.ts'
import type { Mask } from './mask-values.ts'

/** What the server decides on a request before it needs the database. */
export interface ProbedAnswer {
  /**
   * `passed`: the request would be performed, as far as documents and project code allow; `denied`: the caller lacks a
   * permission or a credential (401, 403); `refused`: any other error, such as an unknown path or a malformed query.
   */
  readonly outcome: 'passed' | 'denied' | 'refused'
  /** Of a response that needs no database; null: the request reached it. */
  readonly status: number | null
  readonly message: string | null
  /** Why the caller is denied, with the line to add. */
  readonly reason: string | null
  /** An action of a content-type (`article.find`) or a route pattern; empty: no route has the path. */
  readonly route: string
  /** Relations of a GraphQL request that are answered with null and an error, as the caller may not find their targets. */
  readonly withheld: readonly string[]
  /** The permissions whose conditions choose the documents, of the route's own type and of those that the request reaches. */
  readonly conditions: readonly PermissionScope[]
  /** Project code that also decides: `the policy is-owner`. It is not run. */
  readonly decides: readonly string[]
}

/** A request to simulate. */
export interface SimulatedRequest {
  readonly method: string
  readonly path: string
  /** JSON; null: none. */
  readonly body: string | null
}

export type Simulate = (request: SimulatedRequest, caller: Caller) => Promise<ProbedAnswer>

interface SimulationOptions {
  readonly roles: RolesProject
  readonly database: Database
  readonly mask: Mask
  readonly simulate: Simulate
}

type Words = Readonly<Record<string, unknown>>

/** Whether a role, a token or a user may send a request, why, the line that decides, and the SQL of the condition. */
export async function explainRequest(words: Words, options: SimulationOptions) {
  const { roles, mask, simulate } = options
  const request = requestIn(words)
  const asker = await askerIn(words, options)
  const probed = await simulate(request, callerOf(asker, roles.access))
  const details = explanationOf(probed.route, asker, roles)
  return {
    request: `${request.method} ${request.path}`,
    [asker.holder.kind]: asker.holder.key,
    ...(asker.user && { user: asker.user.name, barred: asker.user.barred }),
    allowed: probed.outcome === 'passed' && asker.user?.barred !== true,
    ...probed,
    permission: details && permissionOf(details, roles, mask),
  }
}

/** Without the values of the user: parameters that come from them have their path, `$user.id`. */
function permissionOf(answer: ReturnType<typeof toAnswer>, { project }: RolesProject, mask: Mask) {
  const { user: _, sql, where, set, ...report } = answerReport(answer, project)
  const parameters = sql?.parameters.map(({ value, from }) => from ?? mask(value))
  return {
    ...report,
    where: mask(where),
    set: mask(set),
    sql: sql && { of: sql.of, text: sql.text, parameters },
  }
}

/** null: the route has no permission of its own. */
function explanationOf(route: string, asker: Principal, roles: RolesProject) {
  const [name, word] = route.split('.')
  const subject = roles.explainer.subjects.find(each => each.name === name || each.type?.key === name)
  const action = subject?.actions.find(each => each === word)
  return subject && action ? toAnswer({ subject, action, field: null }, asker, roles) : null
}

const METHODS: readonly string[] = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']

/** Characters: longer texts are no requests of a person. */
const LONGEST = { path: 2_000, body: 10_000, name: 320 }

const refuse = (message: string): never => {
  throw new RequestFault(fault('validation', message))
}

function requestIn(words: Words): SimulatedRequest {
  const method = textIn(words, 'method', 10).toUpperCase()
  if (!METHODS.includes(method))
    return refuse(`unknown method \`${method}\`${didYouMean(method, METHODS)}: one of ${METHODS.join(', ')}`)
  const path = textIn(words, 'path', LONGEST.path)
  if (!/^\/[\x21-\x7e]*$/.test(path))
    return refuse('`path` is a path such as /api/articles, percent-encoded where needed')
  const input = words.body === undefined || words.body === '' ? null : textIn(words, 'body', LONGEST.body)
  if (input !== null && parseJsonText(input) === undefined) return refuse('`body` is not valid JSON')
  // The permission of a write matters, not its document.
  const writes = method === 'POST' || method === 'PUT'
  return { method, path, body: input ?? (writes ? '{"data":{}}' : null) }
}

function textIn(words: Words, name: string, longest: number): string {
  const value = words[name]
  if (typeof value !== 'string' || value === '') return refuse(`the parameter \`${name}\` is missing`)
  return value.length > longest ? refuse(`\`${name}\` has more than ${longest} characters`) : value
}

async function askerIn(words: Words, { roles, database }: SimulationOptions): Promise<Principal> {
  if (words.user === undefined || words.user === '')
    return { holder: holderNamed(textIn(words, 'role', LONGEST.name), roles), user: null }
  const name = textIn(words, 'user', LONGEST.name)
  const user: ExplainedUser | null = await database.transaction(
    transaction => findExplainedUser(transaction, name, roles),
    { readonly: true },
  )
  return user
    ? { holder: { kind: 'role', key: user.role }, user: { ...user, name } }
    : refuse(`no user has the name or mail address \`${name}\``)
}
