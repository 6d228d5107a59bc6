import { isReadAction } from '../access/actions.ts'
import { trusted } from '../access/brand.ts'
import type { Caller } from '../access/caller.ts'
import { compileCondition } from '../access/compile/compile-condition.ts'
import { filterFor, type UserValues } from '../access/compile/condition.ts'
import { type Explanation, grantsOf } from '../access/explain/explain.ts'
import { restrict } from '../access/restrict/restrict.ts'
import { printUserPath, resolveUserPath } from '../access/user-path.ts'
import { attempt } from '../faults/fault.ts'
import { apiIdOf, type ContentType, type ValueType } from '../model/model.ts'
import { planQuery } from '../plan/plan-query.ts'
import type { Query, RestrictedQuery } from '../query/query.ts'
import { printAnswerStatement } from '../sql/print.ts'
import type { Statement } from '../sql/statement.ts'
import type { RolesProject } from './roles-project.ts'

/** The SQL statement of a request that contains the condition. */
export interface ConditionSql {
  /** The request. */
  readonly of: string
  readonly text: string
  readonly parameters: readonly SqlParameter[]
}

export interface SqlParameter {
  readonly value: unknown
  /** The `$user.…` path that it comes from. */
  readonly from: string | null
}

/**
 * The SQL of a permission's condition; null if it has none. Without a user, each `$user.…` is shown by name
 * if the types allow it.
 */
export function toConditionSql(
  explanation: Explanation,
  user: UserValues | null,
  roles: RolesProject,
): ConditionSql | null {
  const { type } = explanation.subject
  if (!type || !explanation.allowed || !hasCondition(explanation, type, roles)) return null
  const { base, variants } = sampleUsers(user, roles)
  const statementFor = (values: UserValues) =>
    printAnswerStatement(planQuery(queryFor(explanation, type, values, roles), planOptions(roles)))
  const statement = statementFor(base)
  const others = variants.map(({ path, values }) => ({ path, statement: statementFor(values) }))
  const toParameter = (value: unknown, index: number): SqlParameter => {
    const other = others.find(each => differs(statement, each.statement, index))
    if (!other) return { value, from: null }
    const shown = user ? value : asPath(value, other.statement.values[index], other.path)
    return { value: shown, from: other.path }
  }
  return {
    of: requestOf(explanation, type, roles),
    text: statement.text,
    parameters: statement.values.map(toParameter),
  }
}

/** Replaces a sample value by its path. A text built from samples already contains the path. */
function asPath(value: unknown, other: unknown, path: string): unknown {
  if (Array.isArray(value) && Array.isArray(other))
    return value.map((item: unknown, index) => (item === other[index] ? item : path))
  return typeof value === 'string' && value.includes(path) ? value : path
}

/** Drafts are also limited by the read permission that shows them; without one there is no request. */
function hasCondition(
  { action, holder, options }: Explanation,
  type: ContentType,
  roles: RolesProject,
): boolean {
  if (action !== 'readDrafts') return options.where !== undefined
  const grants = grantsOf(roles.access, holder)
  const view = grants.readAccess(type, 'find') ?? grants.readAccess(type, 'findOne')
  return view !== null && (options.where !== undefined || view.where !== null)
}

const planOptions = ({ model, storage }: RolesProject) =>
  ({ storage, defaultLocale: model.defaultLocale, shape: 'flat' }) as const

/** A parameter comes from a `$user.…` path if it changes with that value. */
const differs = (one: Statement, other: Statement, index: number): boolean =>
  one.text === other.text && JSON.stringify(one.values[index]) !== JSON.stringify(other.values[index])

/** A placeholder for the document of a request. */
const DOCUMENT = '<documentId>'

const BUILT_IN_PATHS: ReadonlyMap<string, string> = new Map([
  ['file', 'upload/files'],
  ['role', 'users-permissions/roles'],
  ['locale', 'i18n/locales'],
])

const pathOf = (type: ContentType): string =>
  (type.builtIn ? BUILT_IN_PATHS.get(type.key) : undefined) ?? apiIdOf(type)

function requestOf({ action }: Explanation, type: ContentType, { project }: RolesProject): string {
  const { prefix } = project.settings.rest
  const path = `${prefix}/${pathOf(type)}`
  switch (action) {
    case 'find':
      return `GET ${path}?fields=documentId`
    case 'findOne':
      return `GET ${path}/${DOCUMENT}?fields=documentId`
    case 'readDrafts':
      return `GET ${path}?fields=documentId&status=draft`
    case 'count':
      return `GET ${path}/count`
    default:
      return `the condition of ${action}, asked of one document`
  }
}

function queryFor(
  explanation: Explanation,
  type: ContentType,
  user: UserValues,
  roles: RolesProject,
): RestrictedQuery {
  const { action, holder } = explanation
  const query = baseQuery(type, action === 'find' || action === 'readDrafts' || action === 'count', roles)
  if (!isReadAction(action) && action !== 'readDrafts') return conditionQuery(query, explanation, user, roles)
  const caller: Caller = { kind: 'user', grants: grantsOf(roles.access, holder), user }
  const asked = action === 'readDrafts' ? readOf(caller, type) : action
  const drafts = action === 'readDrafts' ? { status: 'draft' as const } : {}
  const restricted = attempt(() => restrict({ ...query, ...drafts }, caller, asked))
  if (!restricted.ok) throw new TypeError(`${action} of ${type.uid} was granted and is refused`)
  return restricted.value
}

const readOf = ({ grants }: Caller, type: ContentType) =>
  grants.readAccess(type, 'find') ? 'find' : 'findOne'

/** A write checks the condition on the old and on the new document. */
function conditionQuery(
  query: Query,
  { options }: Explanation,
  user: UserValues,
  { model }: RolesProject,
): RestrictedQuery {
  const condition = compileCondition(options.where ?? {}, query.type, model)
  if (!condition.ok) throw new TypeError(`a condition on ${query.type.uid} was not checked`)
  const status = query.type.draftAndPublish ? 'draft' : 'published'
  return trusted({ ...query, status, filter: filterFor(condition.value, user) })
}

function baseQuery(type: ContentType, many: boolean, { model, project }: RolesProject): Query {
  const page = { start: 0, limit: project.settings.rest.defaultLimit }
  const id = type.attributes.get('documentId')
  return {
    kind: 'query',
    type,
    take:
      many && type.kind === 'collection'
        ? { kind: 'many', page, total: false }
        : { kind: 'one', documentId: type.kind === 'single' ? null : DOCUMENT },
    status: 'published',
    locale: type.localized ? { kind: 'these', codes: [model.defaultLocale] } : { kind: 'all' },
    selection: { fields: id?.kind === 'scalar' ? [id] : [], named: true, populate: [] },
    filter: null,
    search: null,
    publication: null,
    sort: [],
  }
}

/** A user, and for each `$user.…` path a copy that differs only in this value. */
interface SampleUsers {
  readonly base: UserValues
  readonly variants: readonly { readonly path: string; readonly values: UserValues }[]
}

/** Sample values of the types of the paths, overridden by the values of the user if there is one. */
function sampleUsers(user: UserValues | null, { access, model }: RolesProject): SampleUsers {
  const samples = access.userPaths.map(path => {
    const attribute = resolveUserPath(path, model.builtIn.user)
    const name = printUserPath(path)
    return {
      path,
      name,
      values:
        typeof attribute !== 'object' || attribute === null ? TEXT(name) : sampleOf(attribute.type, name),
    }
  })
  const base =
    user ?? samples.reduce<UserValues>((all, { path, values }) => withValue(all, path, values[0]), {})
  const variants = samples
    .filter(({ path }) => userValueAt(base, path) !== undefined)
    .map(({ path, name, values }) => {
      const other = userValueAt(base, path) === values[0] ? values[1] : values[0]
      return { path: name, values: withValue(base, path, other) }
    })
  return { base, variants }
}

type Sample = string | number | boolean

const TEXT = (name: string): readonly [Sample, Sample] => [name, `${name}'`]

const NUMBERS = [1, 2] as const
const MOMENTS = ['2000-01-01T00:00:00.000Z', '2000-01-02T00:00:00.000Z'] as const

const SAMPLES: { readonly [Type in ValueType]?: readonly [Sample, Sample] } = {
  id: NUMBERS,
  integer: NUMBERS,
  biginteger: NUMBERS,
  float: NUMBERS,
  decimal: NUMBERS,
  boolean: [true, false],
  date: ['2000-01-01', '2000-01-02'],
  time: ['00:00:00', '00:00:01'],
  datetime: MOMENTS,
  timestamp: MOMENTS,
}

const sampleOf = (type: ValueType, name: string): readonly [Sample, Sample] => SAMPLES[type] ?? TEXT(name)

export function userValueAt(values: UserValues, path: readonly string[]): unknown {
  let value: unknown = values
  for (const name of path) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, name)) return undefined
    value = (value as UserValues)[name]
  }
  return value ?? undefined
}

function withValue(values: UserValues, [name = '', ...rest]: readonly string[], value: Sample): UserValues {
  if (rest.length === 0) return { ...values, [name]: value }
  const inner = values[name]
  const below = typeof inner === 'object' && inner !== null ? (inner as UserValues) : {}
  return { ...values, [name]: withValue(below, rest, value) }
}
