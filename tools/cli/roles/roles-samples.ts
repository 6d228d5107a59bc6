import type { UserValues } from '../../../core/access/compile/condition.ts'
import { resolveUserPath } from '../../../core/access/user-path.ts'
import type { ValueType } from '../../../core/model/model.ts'
import type { RolesProject } from './roles-project.ts'

/** A user, and for each `$user.…` of the project one that is another in that alone. */
export interface SampleUsers {
  readonly base: UserValues
  readonly variants: readonly { readonly path: string; readonly values: UserValues }[]
}

/** Values of the kinds that the paths lead to; where a user is given, his own values are the base. */
export function sampleUsers(user: UserValues | null, { access, model }: RolesProject): SampleUsers {
  const samples = access.userPaths.map(path => {
    const attribute = resolveUserPath(path, model.builtIn.user)
    const name = ['$user', ...path].join('.')
    return { path, name, values: typeof attribute === 'string' ? TEXT(name) : sampleOf(attribute.type, name) }
  })
  const base =
    user ?? samples.reduce<UserValues>((all, { path, values }) => withValue(all, path, values[0]), {})
  const variants = samples
    .filter(({ path }) => valueAt(base, path) !== undefined)
    .map(({ path, name, values }) => {
      const other = valueAt(base, path) === values[0] ? values[1] : values[0]
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

export function valueAt(values: UserValues, path: readonly string[]): unknown {
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
