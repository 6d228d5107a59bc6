import type { Explanation } from '../../../core/access/explain/explain.ts'
import type { FieldExplanation } from '../../../core/access/explain/explain-field.ts'
import type { Principal, RolesAnswer } from '../../../core/explain/answer.ts'
import type { ConditionSql, SqlParameter } from '../../../core/explain/condition-sql.ts'
import { fieldReasonOf, reasonOf } from '../../../core/explain/reasons.ts'
import { doorOf, type RouteOverride } from '../../../core/explain/route-overrides.ts'
import type { Path } from '../../../core/faults/diagnostic.ts'
import type { Project } from '../../../core/project/project.ts'
import type { Paint } from '../paint.ts'
import { breakSql, flowYaml, printLocation, WIDTH, wrap } from './roles-output.ts'

export interface AnswerTextOptions {
  readonly project: Project
  readonly paint: Paint
}

/** Prints the verdict, the line that decides, then the details. */
export function printAnswerText(answer: RolesAnswer, options: AnswerTextOptions): string {
  const verdict = options.paint(answer.allowed ? 'green' : 'red', verdictOf(answer))
  return `${[verdict, ...wrapAll(reasonsOf(answer))].join('\n')}\n${printAnswerDetails(answer, options)}`
}

/** The line that decides, then the details. */
export function printAnswerDetails(answer: RolesAnswer, { project, paint }: AnswerTextOptions): string {
  const { explanation, sql } = answer
  const further = furtherIn(answer)
  const parts = [
    '',
    ...excerpt(explanation.path, project, paint),
    ...(further ? ['', ...excerpt(further.path, project, paint)] : []),
    ...block(factsOf(answer, project)),
    ...(sql ? ['', ...printSql(sql)] : []),
  ]
  return `${parts.join('\n')}\n`
}

/** The permission on another type that denies an attribute: `find` of its target, or of a type on the path to it. */
function furtherIn({ field }: RolesAnswer): Explanation | null {
  if (!field || field.allowed) return null
  return field.reason === 'target' ? field.target : (field.over.at(-1) ?? null)
}

function verdictOf({ allowed, asker, explanation, field }: RolesAnswer): string {
  const { action, subject, options } = explanation
  const within = [options, ...(field?.over ?? []).map(each => each.options)].some(({ where }) => where)
  const part = within || (options.fields && !field) ? 'Yes, in part' : 'Yes'
  const what = field ? `${action} \`${field.name}\` of ${subject.name}` : `${action} ${subject.name}`
  return `${allowed ? part : 'No'}: ${nameOf(asker)} ${allowed ? 'may' : 'may not'} ${what}.`
}

const nameOf = ({ holder, user }: Principal): string =>
  user ? `${user.name} (${holder.key})` : `${holder.kind} ${holder.key}`

function reasonsOf({ asker, explanation, field }: RolesAnswer): readonly string[] {
  const ofField = field && fieldReasonOf(field)
  const barred = 'Every request of this user is refused: blocked, or not confirmed.'
  return [
    ...(asker.user?.barred ? [barred] : []),
    ...(field && ofField ? [`\`${field.path}\`: ${ofField}.`] : []),
    reasonOf(explanation),
  ].filter(reason => reason !== null)
}

const wrapAll = (sentences: readonly string[]): readonly string[] =>
  sentences.flatMap(sentence => wrap(sentence.split(' '), WIDTH))

function excerpt(path: Path, project: Project, paint: Paint): readonly string[] {
  const location = project.keyLocation(path)
  const gutter = `  ${location.line} | `
  const room = WIDTH - gutter.length
  const source = location.source.length > room ? `${location.source.slice(0, room - 1)}…` : location.source
  return [`  ${paint('bold', printLocation(location))}`, `${paint('dim', gutter)}${source}`]
}

type Fact = readonly [label: string, text: string]

function factsOf(
  { explanation, fields, field, values, route, reads }: RolesAnswer,
  project: Project,
): readonly Fact[] {
  const { options, path, overridden } = explanation
  const facts: (Fact | null)[] = [
    inheritance(explanation, project),
    overridden && [
      'overrides',
      `"*" of ${printLocation(project.keyLocation(overridden))}, as ${explanation.subject.name} is named`,
    ],
    options.where
      ? ['where', `${flowYaml(options.where)} (${printLocation(project.keyLocation([...path, 'where']))})`]
      : null,
    options.fields
      ? ['fields', `${flowYaml(options.fields)} (${printLocation(project.keyLocation([...path, 'fields']))})`]
      : null,
    options.set
      ? ['set', `${flowYaml(options.set)} (${printLocation(project.keyLocation([...path, 'set']))})`]
      : null,
    ...(explanation.allowed && !field ? attributeFacts(explanation, fields) : []),
    ...(field?.over ?? []).map(each => overFact(each, project)),
    ...(explanation.allowed ? readFacts(reads, project) : []),
    ...Object.entries(values).map(valueFact),
    ...(route ? routeFacts(route, project) : []),
  ]
  return facts.filter(fact => fact !== null)
}

function inheritance({ through }: Explanation, { keyLocation }: Project): Fact | null {
  if (through.length < 2) return null
  const steps = through.slice(1).map((parent, index) => {
    const place = printLocation(keyLocation(['roles', through[index] ?? '', 'extends']))
    return `${index === 0 ? `${through[0]} ` : ''}extends ${parent} (${place})`
  })
  return ['inherited', steps.join(', which ')]
}

function attributeFacts(
  { readable, writable }: Explanation,
  all: readonly FieldExplanation[],
): readonly (Fact | null)[] {
  const names = writable ?? readable
  if (!names) return []
  const allowed = all.filter(each => each.allowed).map(({ attribute }) => attribute.name)
  const refused = all.filter(each => !each.allowed && !each.attribute.system)
  const reasons = refused.map(each => `${each.attribute.name} (${fieldReasonOf(each)})`)
  return [
    [writable ? 'writes' : 'reads', allowed.join(', ') || 'nothing'],
    reasons.length > 0 ? [writable ? 'not written' : 'not read', reasons.join(', ')] : null,
    writable && readable ? ['answers', shownOf(readable, all).join(', ') || 'nothing'] : null,
  ]
}

/** Responses omit relations whose target type may not be read. */
const shownOf = (readable: readonly string[], all: readonly FieldExplanation[]): readonly string[] =>
  readable.filter(name => all.find(({ attribute }) => attribute.name === name)?.target?.allowed !== false)

const valueFact = ([path, value]: readonly [string, unknown]): Fact => [
  '$user',
  value === null
    ? `${path} has no value, so no document meets the condition`
    : `${path} is ${JSON.stringify(value)}`,
]

/** The permission on a type on the path; documents that it does not cover are left out. */
const overFact = ({ subject, options, path }: Explanation, { keyLocation }: Project): Fact => [
  'over',
  `find of ${subject.name}${withinOf(options)} (${printLocation(keyLocation(path))})`,
]

/** Drafts also need a read permission, and its condition applies to them. */
const readFacts = (reads: readonly Explanation[], { keyLocation }: Project): readonly Fact[] =>
  reads.map(({ action, allowed, options, path }) => [
    `by ${action}`,
    `${allowed ? `yes${withinOf(options)}` : 'no'} (${printLocation(keyLocation(path))})`,
  ])

const withinOf = ({ where }: Explanation['options']): string => (where ? ` where ${flowYaml(where)}` : '')

function routeFacts(route: RouteOverride, project: Project): readonly Fact[] {
  const place = printLocation(project.keyLocation(route.path))
  const door = doorOf(route)
  const { policies } = route
  return [
    ...(door ? [['over REST', `${door}, whatever roles say (${place})`] as const] : []),
    ...(policies.length > 0
      ? [['over REST', `the policies ${policies.join(', ')} decide, too (${place})`] as const]
      : []),
  ]
}

const LABEL = 14

function block(facts: readonly Fact[]): readonly string[] {
  if (facts.length === 0) return []
  const lines = facts.flatMap(([label, text]) =>
    wrap(text.split(' '), WIDTH - LABEL).map(
      (line, index) => `  ${(index === 0 ? label : '').padEnd(LABEL - 2)}${line}`,
    ),
  )
  return ['', ...lines]
}

const printSql = ({ of, text, parameters }: ConditionSql): readonly string[] => [
  `  SQL of ${of}`,
  ...breakSql(text).map(line => `    ${line}`),
  ...parameters.map((parameter, index) => `    $${index + 1} = ${printParameter(parameter)}`),
]

function printParameter({ value, from }: SqlParameter): string {
  const text = JSON.stringify(value)
  if (from === null) return text
  return value === from ? from : `${text} (${from})`
}
