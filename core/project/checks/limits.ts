import { once } from '../../base/memo.ts'
import { isRecord } from '../../base/plain-data.ts'
import type { ProjectFinding } from '../faults.ts'
import { type JsonSchema, readProjectSchema, resolveRef } from '../grammar/project-schema.ts'
import type { Settings } from '../settings/settings.ts'

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

/** All durations of the sections, except the lifetime of tokens, for which no timer runs. */
const timerPaths = once(() => {
  const schema = readProjectSchema()
  return [...durationPaths(schema, [], schema)].filter(path => path.join('.') !== 'auth.jwtExpiresIn')
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
