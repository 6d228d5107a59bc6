import { once } from '../../base/memo.ts'
import { didYouMean, hintFor } from '../../base/nearest.ts'
import { isRecord } from '../../base/plain-data.ts'
import type { ProjectFinding } from '../faults.ts'
import { type JsonSchema, readProjectSchema, resolveRef } from '../grammar/project-schema.ts'
import type { IsWritten } from '../settings/derive-defaults.ts'
import type { Settings } from '../settings/settings.ts'

/** Metrics reveal internals, so making them public must be explicit. */
export function* metrics({ server }: Settings, isWritten: IsWritten): Generator<ProjectFinding> {
  const { enabled, port } = server.metrics
  if (enabled && port === null && !isWritten('server', 'metrics', 'path'))
    yield {
      code: 'conflict',
      message:
        'set `port: 9464` for a separate port, or `path: /metrics` to make them public on the port of the server',
      path: ['server', 'metrics', 'enabled'],
    }
  if (enabled && port !== null && port !== 0 && port === server.port)
    yield {
      code: 'conflict',
      message: 'the server listens on this port: choose another port, or set only `path`',
      path: ['server', 'metrics', 'port'],
    }
}

/** With credentials and the origin `*`, any website could act on behalf of its visitors. */
export function* cors({ server }: Settings): Generator<ProjectFinding> {
  const { origins, credentials } = server.cors
  if (!credentials || !origins.includes('*')) return
  const message =
    '`credentials: true` is not allowed with the origin `*`: list the origins that may send credentials'
  yield { code: 'conflict', message, path: ['server', 'cors', 'credentials'], atKey: true }
}

/** REST, GraphQL, metrics and health need different paths. */
export function* endpoints(
  { rest, graphql, server }: Settings,
  isWritten: IsWritten,
): Generator<ProjectFinding> {
  const named = isWritten('graphql', 'endpoints')
  const taken = new Map([
    [rest.prefix, '`rest.prefix`'],
    ['/_health', 'the health of the server'],
    ['/_ready', 'the health of the server'],
  ])
  const { metrics } = server
  const others: readonly (readonly [isServed: boolean, at: string, path: string[]])[] = [
    ...Object.keys(graphql.endpoints).map((path): (typeof others)[number] => [
      graphql.enabled,
      path,
      named ? ['graphql', 'endpoints', path] : ['graphql', 'config', 'endpoint'],
    ]),
    [metrics.enabled && metrics.port === null, metrics.path, ['server', 'metrics', 'path']],
  ]
  for (const [isServed, at, path] of others) {
    const other = taken.get(at)
    if (isServed && other && at === rest.prefix && !isWritten(...path)) {
      const message = `\`${at}\` is also the path of \`${path.join('.')}\``
      yield { code: 'conflict', message, path: ['rest', 'prefix'] }
    } else if (isServed && other)
      yield { code: 'conflict', message: `\`${at}\` is also the path of ${other}`, path }
    if (isServed) taken.set(at, `\`${path.join('.')}\``)
  }
}

/** An embedded database cannot have replicas. */
export function* replicas({ database }: Settings): Generator<ProjectFinding> {
  if (database.url !== 'embedded' || database.replicas.length === 0) return
  yield {
    code: 'conflict',
    message:
      'the embedded database has no replicas: set `database.url` to the address of their primary, or remove `replicas`',
    path: ['database', 'replicas'],
    atKey: true,
    related: { path: ['database', 'url'], message: 'its `url` is `embedded`' },
  }
}

/** The default page size must not exceed the maximum. */
export function* pageLimits({ rest, graphql }: Settings): Generator<ProjectFinding> {
  const { defaultLimit, amountLimit } = graphql.config
  if (rest.defaultLimit > rest.maxLimit) {
    const message = `\`defaultLimit\` is ${rest.defaultLimit}, which is more than \`maxLimit\`: ${rest.maxLimit}`
    yield { code: 'conflict', message, path: ['rest', 'defaultLimit'] }
  }
  if (defaultLimit > amountLimit) {
    const message = `\`defaultLimit\` is ${defaultLimit}, which is more than \`amountLimit\`: ${amountLimit}`
    yield { code: 'conflict', message, path: ['graphql', 'config', 'defaultLimit'] }
  }
}

/** Milliseconds. Node fires longer timers immediately. */
const MAX_TIMER = 2 ** 31 - 1

/** Durations used by timers must be at most 24 days. */
export function* durations(settings: Settings): Generator<ProjectFinding> {
  for (const path of timerPaths()) {
    if (Number(valueAt(settings, path)) > MAX_TIMER)
      yield { code: 'bad-value', message: 'the duration is too long: at most 24d', path }
  }
}

const WITHOUT_TIMER: ReadonlySet<string> = new Set(['auth.jwtExpiresIn', 'auth.keys.lifetime'])

/** All durations of the sections, except the lifetimes of tokens, for which no timer runs. */
const timerPaths = once(() => {
  const schema = readProjectSchema()
  return [...durationPaths(schema, [], schema)].filter(path => !WITHOUT_TIMER.has(path.join('.')))
})

function* durationPaths(
  schema: JsonSchema,
  path: readonly string[],
  root: JsonSchema,
): Generator<readonly string[]> {
  const { 'x-unit': unit, properties = {} } = resolveRef(schema, root)
  if (unit === 'milliseconds') yield path
  for (const [key, part] of Object.entries(properties)) yield* durationPaths(part, [...path, key], root)
}

const valueAt = (settings: Settings, path: readonly string[]): unknown =>
  path.reduce<unknown>((at, key) => (isRecord(at) ? at[key] : undefined), settings)

const BUILT_IN = ['users', 'auth', 'upload', 'i18n', 'role']
const ACTIONS = {
  collection: ['find', 'findOne', 'create', 'update', 'delete'],
  single: ['find', 'update', 'delete'],
} as const

/** Routes named in `routesConfig` must exist. (Actions of built-in routes are checked where they are served.) */
export function* routes({ routesConfig, contentTypes }: Settings): Generator<ProjectFinding> {
  for (const route of Object.keys(routesConfig)) {
    const [type = '', action = ''] = route.split('.')
    const path = ['routesConfig', route]
    const declared = Object.hasOwn(contentTypes, type) ? contentTypes[type] : undefined
    if (!declared && !BUILT_IN.includes(type)) {
      const hint = didYouMean(type, [...Object.keys(contentTypes), ...BUILT_IN])
      const message = `unknown content-type \`${type}\`${hint}`
      yield { code: 'unknown-name', message, missing: ['contentTypes', type], path, atKey: true }
    }
    const actions: readonly string[] = declared ? ACTIONS[declared.kind] : []
    if (declared && !actions.includes(action)) {
      const message = `\`${type}\` has no route \`${action}\`${hintFor(action, actions)}`
      yield { code: 'unknown-name', message, path, atKey: true }
    }
  }
}

/** Content-types and attributes named under `graphql` must exist. */
export function* graphqlNames({ graphql, contentTypes }: Settings): Generator<ProjectFinding> {
  for (const [key, { fields }] of Object.entries(graphql.shadowCRUD)) {
    const path = ['graphql', 'shadowCRUD', key]
    const type = Object.hasOwn(contentTypes, key) ? contentTypes[key] : undefined
    if (type === undefined) {
      const message = `unknown content-type \`${key}\`${didYouMean(key, Object.keys(contentTypes))}`
      yield { code: 'unknown-name', message, missing: ['contentTypes', key], path, atKey: true }
    } else yield* unknownFields(Object.keys(fields), Object.keys(type.attributes), path)
  }
}

/** `graphql.endpoints` gives all paths their formats; the keys for one endpoint must not contradict it. */
export function* graphqlFormats({ graphql }: Settings, isWritten: IsWritten): Generator<ProjectFinding> {
  if (!isWritten('graphql', 'endpoints')) return
  const { endpoint, v4CompatibilityMode } = graphql.config
  const format = graphql.endpoints[endpoint]
  const path = ['graphql', 'config']
  if (isWritten(...path, 'endpoint') && format === undefined)
    yield {
      code: 'conflict',
      message: `\`${endpoint}\` is not a path of \`graphql.endpoints\``,
      path: [...path, 'endpoint'],
    }
  else if (isWritten(...path, 'v4CompatibilityMode') && (format === 'nested') !== v4CompatibilityMode)
    yield {
      code: 'conflict',
      message: '`graphql.endpoints` gives this endpoint another format',
      path: [...path, 'v4CompatibilityMode'],
    }
}

/** Fields of the generated schema that are not declared attributes. */
const SYSTEM_FIELDS = ['createdAt', 'updatedAt', 'publishedAt', 'locale', 'localizations']

function* unknownFields(
  fields: readonly string[],
  declared: readonly string[],
  path: readonly string[],
): Generator<ProjectFinding> {
  const known = [...declared, ...SYSTEM_FIELDS]
  for (const field of fields) {
    if (known.includes(field)) continue
    const message = `\`${path.at(-1)}\` has no attribute \`${field}\`${didYouMean(field, known)}`
    const missing = ['contentTypes', String(path.at(-1)), 'attributes', field]
    yield { code: 'unknown-name', message, missing, path: [...path, 'fields', field], atKey: true }
  }
}

/** `only: true` needs a folder of trusted documents. */
export function* trustedDocuments({ graphql }: Settings): Generator<ProjectFinding> {
  const { folder, only } = graphql.config.trustedDocuments
  if (!only || folder !== null) return
  const path = ['graphql', 'config', 'trustedDocuments', 'only']
  yield {
    code: 'conflict',
    message: '`only: true` without a `folder` would refuse every request',
    path,
    atKey: true,
  }
}
