import { didYouMean } from '../base/nearest.ts'
import type { Path } from '../faults/diagnostic.ts'
import type { Attribute, ContentType, Holder, ScalarAttribute } from '../model/model.ts'
import type { UserValues } from './compile/condition.ts'
import { isPasswordAttribute } from './readable-attributes.ts'

/** The name of the claims of an external token among the values of a caller. */
export const CLAIMS = '$claims'

/**
 * `$user.role.type` → `['role', 'type']`, `$claims.tenant` → `['$claims', 'tenant']`; undefined: not a reference to the
 * caller.
 */
export function userPath(value: unknown): readonly string[] | undefined {
  if (typeof value !== 'string') return undefined
  const [, name] = /^\$(user|claims)(?![A-Za-z0-9_])/.exec(value) ?? []
  if (name === undefined) return undefined
  return name === 'user' ? value.split('.').slice(1) : value.split('.')
}

/** The inverse of userPath: `['role', 'type']` → `$user.role.type`. */
export const printUserPath = (path: readonly string[]): string =>
  (path[0] === CLAIMS ? path : ['$user', ...path]).join('.')

/** Every `$user.…` in a declared value, at any depth. */
export function* userPathsIn(value: unknown): Generator<readonly string[]> {
  for (const { steps } of userReferencesIn(value)) yield steps
}

/** Like userPathsIn, each with its path in the value. */
export function* userReferencesIn(value: unknown, place: Path = []): Generator<UserReference> {
  const steps = userPath(value)
  if (steps) yield { steps, place }
  else if (value !== null && typeof value === 'object') {
    for (const [key, part] of Object.entries(value))
      yield* userReferencesIn(part, [...place, Array.isArray(value) ? Number(key) : key])
  }
}

export interface UserReference {
  /** See userPath. */
  readonly steps: readonly string[]
  /** The path to the reference within the declared value. */
  readonly place: Path
}

/**
 * Resolves a path over to-one relations and single components to its attribute; a string is the error message. null: a
 * claim, whose type is not declared.
 */
export function resolveUserPath(path: readonly string[], user: ContentType): ScalarAttribute | string | null {
  if (path[0] === CLAIMS)
    return path.length > 1 ? null : '`$claims` is not one value: name a claim, such as `$claims.tenant`'
  let holder: Holder = user
  for (const [index, name] of path.entries()) {
    const attribute: Attribute | undefined = holder.attributes.get(name)
    if (!attribute || isPasswordAttribute(attribute)) return unknownStep(path, index, holder)
    if (attribute.kind === 'scalar') {
      return index === path.length - 1 ? attribute : unknownStep(path, index + 1, null)
    }
    const next = toOneTarget(attribute)
    if (!next) return `\`${printUserPath(path.slice(0, index + 1))}\` is not one value`
    holder = next
  }
  return `\`${printUserPath(path)}\` is not one value: name an attribute of it, such as \`${printUserPath([...path, 'id'])}\``
}

/** null: not an attribute with at most one target. */
function toOneTarget(attribute: Attribute): Holder | null {
  if (attribute.kind === 'relation' || attribute.kind === 'media') {
    return attribute.many ? null : attribute.target
  }
  if (attribute.kind === 'component') return attribute.repeatable ? null : attribute.component
  return null
}

function unknownStep(path: readonly string[], index: number, holder: Holder | null): string {
  const name = path[index] ?? ''
  const known = [...(holder?.attributes.values() ?? [])].filter(attribute => !isPasswordAttribute(attribute))
  const near = didYouMean(
    name,
    known.map(attribute => attribute.name),
  )
  return `unknown \`${name}\` in \`${printUserPath(path)}\`${near}`
}

/** True if some `$user.…` has no value. An empty text counts as missing: `$contains` and `$startsWith` would match every row. */
export const lacksValue = (value: unknown, user: UserValues): boolean =>
  [...userPathsIn(value)].some(path => (valueAt(path, user) ?? '') === '')

/** The declared value with each `$user.…` replaced; undefined: one of them has no value. */
export function bindUser(value: unknown, user: UserValues): unknown {
  const path = userPath(value)
  if (path) return valueAt(path, user) ?? undefined
  if (Array.isArray(value)) return bindAll(value, user)
  if (value === null || typeof value !== 'object') return value
  const entries = Object.entries(value)
  const bound = bindAll(
    entries.map(([, part]) => part),
    user,
  )
  return bound && Object.fromEntries(entries.map(([key], index) => [key, bound[index]]))
}

function bindAll(values: readonly unknown[], user: UserValues): readonly unknown[] | undefined {
  const bound = values.map(value => bindUser(value, user))
  return bound.includes(undefined) ? undefined : bound
}

/** Only scalars: an object or a list in a filter would be parsed as operators. */
function valueAt(path: readonly string[], user: UserValues): string | number | boolean | undefined {
  let value: unknown = user
  for (const name of path) {
    if (value === null || typeof value !== 'object' || !Object.hasOwn(value, name)) return undefined
    value = (value as UserValues)[name]
  }
  return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean'
    ? value
    : undefined
}
