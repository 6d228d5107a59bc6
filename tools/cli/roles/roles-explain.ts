import { failed, ok, type Result } from '../../../core/base/result.ts'
import { type Principal, type QuestionWords, toAnswer, toQuestion } from '../../../core/explain/answer.ts'
import { printAnswerJson } from '../../../core/explain/report.ts'
import { loadRoles, type RolesProject, unknownName } from '../../../core/explain/roles-project.ts'
import { complainOf } from './roles.ts'
import { printAnswerText } from './roles-answer-text.ts'
import type { RolesContext } from './roles-output.ts'

export interface ExplainWords extends QuestionWords {
  /** A role, an API token, or a user's name or mail address. */
  readonly who: string
  /** `who` is a user, even if a role has this name. */
  readonly isUser: boolean
}

/**
 * `plinth roles explain`: whether a role or user may do something, and why. Returns the exit code: 0 for any
 * answer, 1 for faults of the project, 2 for unknown words.
 */
export async function runExplain(options: RolesContext, words: ExplainWords): Promise<0 | 1 | 2> {
  const loaded = await loadRoles(options.folder, options.env)
  if (!loaded.ok) return complainOf(loaded.reasons, options)
  const roles = loaded.value
  const question = toQuestion(words, roles)
  const asker = question.ok ? await findAsker(words, roles, options) : question
  if (!question.ok || !asker.ok) {
    options.writeError(`${(asker.ok ? [] : asker.reasons).join('\n')}\n`)
    return 2
  }
  const answer = toAnswer(question.value, asker.value, roles)
  const { project } = roles
  options.write(
    options.form === 'json'
      ? printAnswerJson(answer, project)
      : printAnswerText(answer, { project, paint: options.paint }),
  )
  return 0
}

/** The database is queried only if the name is neither a role nor a token. */
export async function findAsker(
  { who, isUser }: Pick<ExplainWords, 'who' | 'isUser'>,
  roles: RolesProject,
  options: RolesContext,
): Promise<Result<Principal, string>> {
  const { holders } = roles.explainer
  const holder = isUser ? undefined : holders.find(({ key }) => key === who)
  if (holder) return ok({ holder, user: null })
  const { findUserByName } = await import('./roles-user.ts')
  const found = await findUserByName(who, roles, options)
  const unknown = unknownName(
    isUser ? 'user' : 'role, API token or user',
    who,
    isUser ? [] : holders.map(({ key }) => key),
  )
  if (!found.ok) return failed(`${unknown} (${found.reasons.join('; ')})`)
  if (!found.value) return failed(unknown)
  return ok({ holder: { kind: 'role', key: found.value.role }, user: { ...found.value, name: who } })
}
