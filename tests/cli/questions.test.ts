import test from 'ava'
import type { Caller } from '../../core/access/caller.ts'
import { grantsOf } from '../../core/access/explain/explain.ts'
import { toAnswer, toQuestion } from '../../core/explain/answer.ts'
import { printAnswerJson } from '../../core/explain/report.ts'
import { loadRoles, type RolesProject } from '../../core/explain/roles-project.ts'
import type { Attribute, ContentType, Holder } from '../../core/model/model.ts'
import { paintFor } from '../../tools/cli/paint.ts'
import { printAnswerText } from '../../tools/cli/roles/roles-answer-text.ts'
import { parseListQuery, parseQueryString, restrict } from '../harness/attempts.ts'
import { temporaryFolder } from '../harness/folder.ts'
import { EXAMPLE } from './run.ts'

/** Conditions at every position, and on every type that has documents. */
const CONDITIONS = `
name: Questions
i18n: { locales: [en, fr] }
contentTypes:
  page:
    kind: single
    draftAndPublish: true
    localized: true
    attributes: { title: string, open: boolean, on: date, at: datetime, price: decimal, tags: json }
  post:
    draftAndPublish: true
    attributes:
      title: string
      page: { type: relation, relation: manyToOne, target: page }
      writer: { type: relation, relation: manyToOne, target: user }
user: { attributes: { open: boolean, since: date, name: string, post: { type: relation, relation: oneToOne, target: post } } }
roles:
  public: { permissions: { auth: [login], post: { readDrafts: { where: { title: x } } } } }
  all:
    permissions:
      page: { "*": { where: { open: $user.open, on: { $gt: $user.since } } } }
      post: { "*": { where: { $or: [{ writer: { post: { id: $user.post.id } } }, { title: { $startsWithi: $user.name } }] } }, find: false }
      users: { "*": { where: { id: $user.id } } }
      upload: { "*": { where: { name: { $in: [$user.name, a] } } } }
      i18n: { find: { where: { code: en } } }
      role: { "*": { where: { type: $user.role.type } } }
apiTokens:
  full: { type: full-access, secret: full-full-full-full-full }
`

/** Every question that can be asked; answers how many were. */
function askAll(roles: RolesProject, reported: (text: string, json: string) => void): number {
  const { explainer, project } = roles
  let asked = 0
  for (const holder of explainer.holders) {
    for (const { name, type, actions } of explainer.subjects) {
      for (const action of actions) {
        for (const field of [undefined, ...(type?.attributes.keys() ?? [])]) {
          const question = toQuestion({ action, type: name, field }, roles)
          if (!question.ok) continue
          const answer = toAnswer(question.value, { holder, user: null }, roles)
          reported(
            printAnswerText(answer, { project, paint: paintFor(false, {}) }),
            printAnswerJson(answer, project),
          )
          asked++
        }
      }
    }
  }
  return asked
}

async function ask(folder: string): Promise<{ asked: number; texts: string[] }> {
  const loaded = await loadRoles(folder, {})
  if (!loaded.ok) throw new Error(loaded.reasons.map(({ message }) => message).join('\n'))
  const texts: string[] = []
  const asked = askAll(loaded.value, (text, json) => {
    texts.push(text)
    JSON.parse(json)
  })
  return { asked, texts }
}

test('every question about the example project is answered with a line of the project file', async t => {
  const { asked, texts } = await ask(EXAMPLE)
  t.true(asked > 1000, String(asked))
  for (const text of texts) t.regex(text, /^(Yes|Yes, in part|No): [\s\S]*\n {2}project\.yaml:\d+:\d+\n/)
})

test('every condition becomes SQL whose parameters are explained, at every position', async t => {
  const folder = temporaryFolder()
  folder.write('project.yaml', CONDITIONS)
  const { texts } = await ask(folder.path)
  folder.remove()
  const withSql = texts.filter(text => text.includes('\n  SQL of '))
  t.true(withSql.length > 40, String(withSql.length))
  for (const text of withSql) t.false(text.includes('undefined'), text)
  const reported = withSql.join('\n')
  for (const path of ['open', 'since', 'post.id', 'name', 'id', 'role.type'])
    t.true(reported.includes(`$user.${path}`), path)
  for (const request of [
    'GET /api/page?',
    'GET /api/upload/files?',
    'GET /api/users/count',
    'GET /api/i18n/locales?',
  ])
    t.true(reported.includes(request), request)
})

/** The ways from a type over so many relations and components at most to single values and to relations. */
function* waysFrom(holder: Holder, steps: number): Generator<readonly string[]> {
  for (const attribute of holder.attributes.values()) {
    // No list is filtered by files or by what files are used in (reference/rest.md#7-filters).
    if (attribute.kind === 'media' || attribute.kind === 'morph') continue
    const end = endOf(attribute)
    if (attribute.kind !== 'zone' && attribute.kind !== 'component') yield [attribute.name]
    if (end && steps > 0) for (const rest of waysFrom(end, steps - 1)) yield [attribute.name, ...rest]
  }
}

function endOf(attribute: Attribute): Holder | null {
  if (attribute.kind === 'scalar' || attribute.kind === 'zone' || attribute.kind === 'morph') return null
  return attribute.kind === 'component' ? attribute.component : attribute.target
}

/** True if a list may be filtered by the attribute at the end of the path. */
function isAnswered(way: readonly string[], type: ContentType, caller: Caller, roles: RolesProject): boolean {
  const end = way.reduce<Attribute | Holder | null>(
    (at, name) => (at && 'attributes' in at ? at : at && endOf(at))?.attributes.get(name) ?? null,
    type,
  )
  const leaf = end && 'kind' in end && end.kind !== 'scalar' ? '[id]' : ''
  const parameters = parseQueryString(`filters[${way.join('][')}]${leaf}[$notNull]=true`)
  if (!parameters.ok) throw new Error(way.join('.'))
  const parsed = parseListQuery(type, parameters.value, {
    model: roles.model,
    settings: roles.project.settings.rest,
  })
  if (!parsed.ok) throw new Error(`${way.join('.')}: ${parsed.reasons[0]?.message}`)
  return restrict(parsed.value.query, caller, 'find').ok
}

test('explanations of attributes agree with the checks of requests, over relations and in components', async t => {
  const loaded = await loadRoles(EXAMPLE, {})
  if (!loaded.ok) throw new Error(loaded.reasons.map(({ message }) => message).join('\n'))
  const roles = loaded.value
  const reported: boolean[] = []
  for (const holder of roles.explainer.holders) {
    const caller: Caller = { kind: 'user', grants: grantsOf(roles.access, holder), user: {} }
    for (const { name, type, actions } of roles.explainer.subjects) {
      if (type?.kind !== 'collection' || !actions.includes('find')) continue
      for (const way of waysFrom(type, 2)) {
        const field = way.join('.')
        const question = toQuestion({ action: 'find', type: name, field }, roles)
        if (!question.ok) throw new Error(question.reasons.join())
        const { allowed } = toAnswer(question.value, { holder, user: null }, roles)
        t.is(isAnswered(way, type, caller, roles), allowed, `${holder.key} ${name} ${field}`)
        reported.push(allowed)
      }
    }
  }
  t.true(reported.filter(Boolean).length > 100 && reported.filter(allowed => !allowed).length > 100)
})
