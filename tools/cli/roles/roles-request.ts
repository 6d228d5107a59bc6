import type { Explanation } from '../../../core/access/explain/explain.ts'
import { compileApp } from '../../../core/app/compile-app.ts'
import { openRequestProbe } from '../../../core/app/request-probe.ts'
import { printStartFault } from '../../../core/app/start-fault.ts'
import { failed, ok, type Result } from '../../../core/base/result.ts'
import type { ProbedAnswer } from '../../../core/console/simulation.ts'
import { callerOf, type Principal, type RolesAnswer, toAnswer } from '../../../core/explain/answer.ts'
import { answerReport, explanationJson } from '../../../core/explain/report.ts'
import { loadRoles, type RolesProject } from '../../../core/explain/roles-project.ts'
import type { MemoryRequest } from '../../../core/http/in-memory.ts'
import { complainOf } from './roles.ts'
import { printAnswerDetails } from './roles-answer-text.ts'
import { findAsker } from './roles-explain.ts'
import { flowYaml, printLocation, type RolesContext, WIDTH, wrap } from './roles-output.ts'

export interface RequestWords {
  /** `POST /api/reviews?populate=author` */
  readonly request: string
  /** A role, an API token, or a user's name or mail address. */
  readonly who: string
  /** `who` is a user, even if a role has this name. */
  readonly isUser: boolean
  /** JSON. */
  readonly body: string | undefined
}

/**
 * `plinth roles explain --request`: what the server decides on a request before it needs documents, by the server's own
 * routes and checks. Returns the exit code: 0 for any answer, 1 for faults of the project, 2 for unknown words.
 */
export async function runExplainRequest(options: RolesContext, words: RequestWords): Promise<0 | 1 | 2> {
  const loaded = await loadRoles(options.folder, options.env)
  if (!loaded.ok) return complainOf(loaded.reasons, options)
  const request = parseRequest(words)
  const asker = request.ok ? await findAsker(words, loaded.value, options) : request
  if (!request.ok || !asker.ok) {
    options.writeError(`${(asker.ok ? [] : asker.reasons).join('\n')}\n`)
    return 2
  }
  const compiled = await compileApp(options.folder, options.env)
  if (!compiled.ok) return complainOf(compiled.reasons, options)
  const probe = await openRequestProbe(compiled.value)
  if (!probe.ok) {
    options.writeError(`${probe.reasons.map(printStartFault).join('\n')}\n`)
    return 1
  }
  const probed = await probe.value.ask(request.value, callerOf(asker.value, compiled.value.access))
  const answer = { asker: asker.value, request: words.request, probed, roles: loaded.value }
  options.write(options.form === 'json' ? printJson(answer) : printText(answer, options))
  return 0
}

const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']

function parseRequest({ request, body }: RequestWords): Result<MemoryRequest, string> {
  const [method = '', path = '', ...rest] = request.trim().split(/\s+/)
  const verb = method.toUpperCase()
  if (!METHODS.includes(verb) || !path.startsWith('/') || rest.length > 0)
    return failed(
      `\`${request}\` is no request: expected a method and a path, such as \`POST /api/reviews\` (${METHODS.join(', ')})`,
    )
  // A write without a body is asked for with an empty document: its permission is what matters.
  const text = body ?? (verb === 'POST' || verb === 'PUT' ? '{"data":{}}' : null)
  if (body !== undefined && !isJson(body)) return failed('--body is not valid JSON')
  return ok({
    method: verb,
    path: encodeURI(decodeSafely(path)),
    headers: text === null ? {} : { 'content-type': 'application/json' },
    body: text === null ? null : Buffer.from(text),
  })
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}

/** Paths may be given with or without percent encoding. */
function decodeSafely(path: string): string {
  try {
    return decodeURI(path)
  } catch {
    return path
  }
}

interface RequestAnswer {
  readonly asker: Principal
  readonly request: string
  readonly probed: ProbedAnswer
  readonly roles: RolesProject
}

/** The explanation of the route's action; null: the route has no permission of its own. */
function explanationOf({ asker, probed, roles }: RequestAnswer): RolesAnswer | null {
  const [name, word] = probed.route.split('.')
  const subject = roles.explainer.subjects.find(each => each.name === name || each.type?.key === name)
  const action = subject?.actions.find(each => each === word)
  return subject && action ? toAnswer({ subject, action, field: null }, asker, roles) : null
}

/** The permissions whose conditions also choose documents, besides that of the route: those of drafts and of related types. */
function furtherConditions({ asker, probed, roles }: RequestAnswer): readonly Explanation[] {
  const { explainer } = roles
  const further = probed.conditions.filter(each => `${each.subject}.${each.action}` !== probed.route)
  return further.flatMap(({ subject: name, action }) => {
    const subject = explainer.subjects.find(each => each.name === name)
    const explained = subject && explainer.explain(asker.holder, subject, action)
    return explained?.options.where ? [explained] : []
  })
}

function conditionSentence(
  { action, subject, options, path }: Explanation,
  { project }: RolesProject,
): string {
  const place = printLocation(project.keyLocation([...path, 'where']))
  return `The condition of \`${action}\` of ${subject.name} applies: ${flowYaml(options.where)} (${place}).`
}

/** A blocked user is refused, whatever the permissions. */
const isAllowed = ({ asker, probed }: RequestAnswer): boolean =>
  probed.outcome === 'passed' && asker.user?.barred !== true

function printText(answer: RequestAnswer, { paint }: RolesContext): string {
  const { probed, asker, request, roles } = answer
  const allowed = isAllowed(answer)
  const details = explanationOf(answer)
  const further = allowed ? furtherConditions(answer) : []
  const hasCondition = details?.explanation.options.where !== undefined || further.length > 0
  const isPart = allowed && (hasCondition || probed.withheld.length > 0)
  const name = asker.user
    ? `${asker.user.name} (${asker.holder.key})`
    : `${asker.holder.kind} ${asker.holder.key}`
  const verdict = `${allowed ? (isPart ? 'Yes, in part' : 'Yes') : 'No'}: ${name} ${allowed ? 'may' : 'may not'} ${request}.`
  const sentences = [
    ...(asker.user?.barred ? ['Every request of this user is refused: blocked, or not confirmed.'] : []),
    ...(probed.outcome === 'passed' ? [] : [`The server answers ${probed.status}: ${probed.message}.`]),
    ...(probed.outcome === 'refused' && probed.route === '' ? ['No route has this method and path.'] : []),
    ...(probed.reason === null ? [] : [`${probed.reason}.`]),
    ...probed.withheld.map(
      link => `${link} is answered with null and an error: \`find\` of its target is not granted.`,
    ),
    ...further.map(each => conditionSentence(each, roles)),
    ...(probed.decides.length === 0 ? [] : [`Project code decides, too: ${probed.decides.join(', ')}.`]),
  ].map(sentence => sentence.replace(/\.\.$/, '.'))
  const text = details ? printAnswerDetails(details, { project: roles.project, paint }) : ''
  const lines = sentences.flatMap(sentence => wrap(sentence.split(' '), WIDTH))
  return `${[paint(allowed ? 'green' : 'red', verdict), ...lines].join('\n')}\n${text}`
}

function printJson(answer: RequestAnswer): string {
  const { request, probed, roles } = answer
  const details = explanationOf(answer)
  return `${JSON.stringify({
    request,
    allowed: isAllowed(answer),
    ...probed,
    conditions: furtherConditions(answer).map(each => ({
      subject: each.subject.name,
      ...explanationJson(each, roles.project),
    })),
    permission: details && answerReport(details, roles.project),
  })}\n`
}
