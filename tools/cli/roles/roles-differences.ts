import { isDeepStrictEqual } from 'node:util'
import type {
  Explanation,
  PermissionHolder,
  PermissionSubject,
} from '../../../core/access/explain/explain.ts'
import type { RolesProject } from '../../../core/explain/roles-project.ts'
import { doorOf, openingsOf, type RouteOverride } from '../../../core/explain/route-overrides.ts'
import type { Path } from '../../../core/faults/diagnostic.ts'
import { flowYaml } from './roles-output.ts'

/** In order of output: new permissions come first, because reviewers read the first lines. */
export const EFFECTS = ['grants', 'may-grant', 'takes'] as const
export type Effect = (typeof EFFECTS)[number]

/** A changed permission of a role or token on one subject, or a changed route or resolver for all callers. */
export interface Difference {
  /** `may-grant`: a changed condition or `set` value, of which it is undecidable which one allows more. */
  readonly effect: Effect
  readonly holder: PermissionHolder | Pick<RouteOverride, 'kind' | 'key'>
  /** Empty for a route or resolver. */
  readonly subject: string
  /** All actions with the same difference. */
  readonly actions: readonly string[]
  /** The affected part of the actions; empty: all of it. */
  readonly what: string
  /** The path of the deciding line; null if there is no such role, type or route. */
  readonly was: Path | null
  readonly now: Path | null
}

/** Everything that is permitted in only one of the two versions, for all roles and tokens. */
export function compareRoles(before: RolesProject, after: RolesProject): readonly Difference[] {
  const holders = unionOf(
    after.explainer.holders,
    before.explainer.holders,
    ({ kind, key }) => `${kind} ${key}`,
  )
  const subjects = unionOf(after.explainer.subjects, before.explainer.subjects, ({ name }) => name)
  const found = holders.flatMap(holder =>
    subjects.flatMap(subject => {
      const actions = new Set([before, after].flatMap(each => actionsOn(each, subject.name)))
      return [...actions].flatMap(action => [
        ...compare(find(before, holder, subject.name, action), find(after, holder, subject.name, action)),
      ])
    }),
  )
  const joined = join([...found, ...compareOpenings(before, after)], before, after)
  return EFFECTS.flatMap(effect => joined.filter(each => each.effect === effect))
}

function unionOf<Each>(
  one: readonly Each[],
  other: readonly Each[],
  nameOf: (each: Each) => string,
): readonly Each[] {
  return [...new Map([...one, ...other].map(each => [nameOf(each), each])).values()]
}

const subjectIn = ({ explainer }: RolesProject, name: string): PermissionSubject | undefined =>
  explainer.subjects.find(each => each.name === name)

const actionsOn = (roles: RolesProject, name: string): readonly string[] =>
  subjectIn(roles, name)?.actions ?? []

/** null if the role, the type or the action does not exist: nothing is granted then. */
function find(
  roles: RolesProject,
  { kind, key }: PermissionHolder,
  name: string,
  word: string,
): Explanation | null {
  const holder = roles.explainer.holders.find(each => each.kind === kind && each.key === key)
  const subject = subjectIn(roles, name)
  const action = subject?.actions.find(each => each === word)
  return holder && subject && action ? roles.explainer.explain(holder, subject, action) : null
}

function* compare(before: Explanation | null, after: Explanation | null): Generator<Difference> {
  const either = after ?? before
  if (!either) return
  const of = {
    holder: either.holder,
    subject: either.subject.name,
    actions: [either.action],
    was: before?.path ?? null,
    now: after?.path ?? null,
  }
  const [could, can] = [before?.allowed === true, after?.allowed === true]
  if (!could && after && can) yield { ...of, effect: 'grants', what: limitsOf(after) }
  else if (before && could && !can) yield { ...of, effect: 'takes', what: '' }
  else if (before && after && could && can) {
    for (const { effect, what } of compareOptions(before, after)) yield { ...of, effect, what }
  }
}

/** The limits of a new permission. */
function limitsOf({ options }: Explanation): string {
  const { where, fields, set } = options
  return [
    ...(where ? [`where ${flowYaml(where)}`] : []),
    ...(fields ? [`fields ${flowYaml(fields)}`] : []),
    ...(set ? [`set ${flowYaml(set)}`] : []),
  ].join(', ')
}

type Term = Pick<Difference, 'effect' | 'what'>

function* compareOptions(before: Explanation, after: Explanation): Generator<Term> {
  yield* compareWhere(before.options.where, after.options.where)
  yield* compareNames('reads', before.readable, after.readable)
  const set = new Set([before, after].flatMap(({ options }) => Object.keys(options.set ?? {})))
  const others = ({ writable }: Explanation) => writable?.filter(name => !set.has(name)) ?? null
  yield* compareNames('writes', others(before), others(after))
  for (const name of set) yield* compareSet(name, before, after)
}

type Where = Explanation['options']['where']

function* compareWhere(before: Where, after: Where): Generator<Term> {
  if (isDeepStrictEqual(before, after)) return
  if (before && after)
    yield { effect: 'may-grant', what: `where ${flowYaml(after)} instead of ${flowYaml(before)}` }
  else if (before) yield { effect: 'grants', what: `documents outside ${flowYaml(before)}` }
  else yield { effect: 'takes', what: `documents outside ${flowYaml(after)}` }
}

type Names = readonly string[] | null

function* compareNames(verb: string, before: Names, after: Names): Generator<Term> {
  const added = (after ?? []).filter(name => !before?.includes(name))
  const gone = (before ?? []).filter(name => !after?.includes(name))
  if (added.length > 0) yield { effect: 'grants', what: `${verb} ${added.join(', ')}` }
  if (gone.length > 0) yield { effect: 'takes', what: `${verb} ${gone.join(', ')}` }
}

/** A value set by the server cannot be chosen by the caller. */
function* compareSet(name: string, before: Explanation, after: Explanation): Generator<Term> {
  const [old, now] = [before, after].map(({ options }) => options.set?.[name])
  const writes = after.writable?.includes(name)
  if (isDeepStrictEqual(old, now)) return
  if (old === undefined)
    yield { effect: 'takes', what: `a client-chosen value for ${name}, which becomes ${flowYaml(now)}` }
  else if (now !== undefined)
    yield { effect: 'may-grant', what: `${name} becomes ${flowYaml(now)} instead of ${flowYaml(old)}` }
  else if (writes)
    yield { effect: 'grants', what: `a client-chosen value for ${name}, which became ${flowYaml(old)}` }
  else yield { effect: 'may-grant', what: `${name} no longer becomes ${flowYaml(old)}` }
}

/** Joins actions with the same difference by the same lines. */
function join(
  differences: readonly Difference[],
  before: RolesProject,
  after: RolesProject,
): readonly Difference[] {
  const joined = new Map<string, Difference>()
  for (const each of differences) {
    const { effect, holder, subject, what, was, now } = each
    const key = JSON.stringify([effect, holder, subject, what, lineOf(was, before), lineOf(now, after)])
    const known = joined.get(key)
    joined.set(key, known ? { ...known, actions: [...known.actions, ...each.actions] } : each)
  }
  return [...joined.values()]
}

function lineOf(path: Path | null, { project }: RolesProject): string | null {
  if (!path) return null
  const { file, line } = project.keyLocation(path)
  return `${file}:${line}`
}

/** Routes and resolvers with changed `auth`. Of two different scopes it is undecidable which one more callers have. */
function compareOpenings(before: RolesProject, after: RolesProject): readonly Difference[] {
  const [old, now] = [before, after].map(({ project }) => openingsOf(project))
  const all = unionOf(now ?? [], old ?? [], ({ kind, key }) => `${kind} ${key}`)
  return all.flatMap(({ kind, key }) => {
    const one = (openings: readonly RouteOverride[] = []) =>
      openings.find(each => each.kind === kind && each.key === key)
    return [...compareOpening({ kind, key }, one(old), one(now))]
  })
}

function* compareOpening(
  holder: Pick<RouteOverride, 'kind' | 'key'>,
  before: RouteOverride | undefined,
  after: RouteOverride | undefined,
): Generator<Difference> {
  const of = { holder, subject: '', actions: [], was: before?.path ?? null, now: after?.path ?? null }
  const [old, now] = [before, after].map(
    opening => (opening && doorOf(opening)) ?? 'for who has its own permission',
  )
  if (old !== now) {
    const effect = now === OPEN ? 'grants' : old === OPEN ? 'takes' : 'may-grant'
    yield { ...of, effect, what: `${now}, no longer ${old}` }
  }
  const [were = [], are = []] = [before?.policies, after?.policies]
  const gone = were.filter(name => !are.includes(name))
  const added = are.filter(name => !were.includes(name))
  if (gone.length > 0)
    yield { ...of, effect: 'grants', what: `the policies ${gone.join(', ')} decide no longer` }
  if (added.length > 0) yield { ...of, effect: 'takes', what: `the policies ${added.join(', ')} decide, too` }
}

const OPEN = 'open to everybody'
