import { didYouMean, hintFor } from '../../base/nearest.ts'
import { isMoment } from '../../base/text.ts'
import { canBeSent } from '../../base/tokens.ts'
import { walkGraph } from '../../base/walk-graph.ts'
import type { Path } from '../../faults/diagnostic.ts'
import type { ProjectFinding } from '../faults.ts'
import type {
  ApiTokenDeclaration,
  Json,
  PermissionOptions,
  Permissions,
  RoleDeclaration,
  Settings,
} from '../settings/settings.ts'

type Roles = Readonly<Record<string, RoleDeclaration>>

/** A role must extend existing roles, and not itself, directly or indirectly. */
export function* roleParents({ roles }: Settings): Generator<ProjectFinding> {
  const reported = new Set<string>()
  for (const [key, role] of Object.entries(roles)) {
    for (const [index, parent] of role.extends.entries()) {
      if (!Object.hasOwn(roles, parent)) yield unknownParent(parent, [...pathOf(key), index], roles)
    }
  }
  const { cycles } = walkGraph(Object.keys(roles), key => parentsOf(key, roles))
  for (const cycle of cycles) {
    const [first = ''] = cycle
    if (cycle.some(member => reported.has(member))) continue
    for (const member of cycle) reported.add(member)
    const way = [...cycle, first].map(member => `\`${member}\``).join(' → ')
    yield { code: 'cycle', message: `roles extend each other in a cycle: ${way}`, path: pathOf(first) }
  }
}

const parentsOf = (key: string, roles: Roles): readonly string[] =>
  (roles[key]?.extends ?? []).filter(parent => Object.hasOwn(roles, parent))

const pathOf = (key: string): Path => ['roles', key, 'extends']

const unknownParent = (parent: string, path: Path, roles: Roles): ProjectFinding => ({
  code: 'unknown-name',
  message: `unknown role \`${parent}\`${didYouMean(parent, Object.keys(roles))}`,
  path,
})

const TAKEN: ReadonlySet<string> = new Set([...Object.getOwnPropertyNames(Object.prototype), 'prototype'])

/** Roles and tokens must not have names of Object.prototype. (For types and attributes see core/model/check.) */
export function* objectNames(settings: Settings): Generator<ProjectFinding> {
  for (const section of ['roles', 'apiTokens'] as const) {
    for (const name of Object.keys(settings[section])) {
      if (!TAKEN.has(name)) continue
      yield {
        code: 'reserved-name',
        message: `\`${name}\` is a reserved name`,
        path: [section, name],
        atKey: true,
      }
    }
  }
}

/** `fields` lists either included fields or, with `!`, excluded ones. */
export function* permissionFields(settings: Settings): Generator<ProjectFinding> {
  for (const { permission, path } of conditionalPermissions(settings)) {
    const fields = permission.fields ?? []
    const odd = fields.findIndex(field => isExcluding(field) !== isExcluding(fields[0]))
    if (odd > 0) yield mixed([...path, 'fields'], odd)
  }
}

const isExcluding = (field: string | undefined): boolean => field?.startsWith('!') ?? false

const mixed = (path: Path, odd: number): ProjectFinding => ({
  code: 'conflict',
  message: '`fields` holds names, or names with `!`, not both',
  path: [...path, odd],
})

/** Permissions of a token must not use `$user` or `$claims`, because a token has no user. */
export function* tokenCallers(settings: Settings): Generator<ProjectFinding> {
  for (const { permission, path } of conditionalPermissions(settings)) {
    if (path[0] !== 'apiTokens') continue
    for (const at of [
      ...callersIn(permission.where ?? null, [...path, 'where']),
      ...callersIn(permission.set ?? null, [...path, 'set']),
    ]) {
      const message = '`$user` and `$claims` are of the signed-in user, and a token has none'
      yield { code: 'conflict', message, path: at }
    }
  }
}

const REFERENCE = /^\$(user|claims)(\.|$)/

function callersIn(value: Json, path: Path, reference = REFERENCE): readonly Path[] {
  if (typeof value === 'string') return reference.test(value) ? [path] : []
  if (value === null || typeof value !== 'object') return []
  return Object.entries(value).flatMap(([key, child]) =>
    callersIn(child, [...path, Array.isArray(value) ? Number(key) : key], reference),
  )
}

interface PartialPermission {
  readonly permission: PermissionOptions
  readonly path: Path
}

/** All permissions of roles and tokens that have `where`, `fields` or `set`. */
function* conditionalPermissions(settings: Settings): Generator<PartialPermission> {
  for (const section of ['roles', 'apiTokens'] as const) {
    for (const [key, holder] of Object.entries(settings[section])) {
      if ('permissions' in holder)
        yield* partialPermissionsIn(holder.permissions, [section, key, 'permissions'])
    }
  }
}

function* partialPermissionsIn(permissions: Permissions, path: Path): Generator<PartialPermission> {
  for (const [subject, actions] of Object.entries(permissions)) {
    for (const [action, permission] of Object.entries(actions)) {
      if (typeof permission === 'object') yield { permission, path: [...path, subject, action] }
    }
  }
}

/** Each token has either a secret or a hash, and no two tokens are equal. */
export function* apiTokens({ apiTokens }: Settings): Generator<ProjectFinding> {
  const seen = new Map<string, string>()
  for (const [name, token] of Object.entries(apiTokens)) {
    const path = ['apiTokens', name]
    yield* oneCredential(name, token)
    if (token.expiresAt !== undefined && !isMoment(token.expiresAt)) {
      yield {
        code: 'bad-value',
        message: '`expiresAt` is a date or time that does not exist',
        path: [...path, 'expiresAt'],
      }
    }
    const known = token.secret ?? token.hash
    const other = known === undefined ? undefined : seen.get(known)
    if (other !== undefined) {
      const related = { path: ['apiTokens', other], message: `\`${other}\` is here` }
      yield {
        code: 'conflict',
        message: `the tokens \`${other}\` and \`${name}\` are the same`,
        path,
        atKey: true,
        related,
      }
    }
    if (known !== undefined) seen.set(known, name)
  }
}

function* oneCredential(name: string, { secret, hash }: ApiTokenDeclaration): Generator<ProjectFinding> {
  const path = ['apiTokens', name]
  if (secret === undefined && hash === undefined) {
    yield {
      code: 'missing-key',
      message: `the token \`${name}\` needs a \`secret\` or a \`hash\``,
      path,
      atKey: true,
    }
  }
  if (secret !== undefined && hash !== undefined) {
    const message = `the token \`${name}\` has a \`secret\` and a \`hash\`: keep one of them`
    yield { code: 'conflict', message, path: [...path, 'hash'], atKey: true }
  }
  if (secret !== undefined && !canBeSent(secret)) {
    const message = `no request can send the \`secret\` of the token \`${name}\`: use letters, digits and signs of ASCII, without spaces`
    yield { code: 'bad-value', message, path: [...path, 'secret'] }
  }
}

/** The role and the attributes of registration must exist. */
export function* registration({ auth, roles, user }: Settings): Generator<ProjectFinding> {
  const { role, allowedFields } = auth.register
  const path = ['auth', 'register']
  if (!Object.hasOwn(roles, role)) {
    const message = `unknown role \`${role}\`${didYouMean(role, Object.keys(roles))}`
    yield { code: 'unknown-name', message, path: [...path, 'role'] }
  }
  for (const [index, field] of allowedFields.entries()) {
    if (Object.hasOwn(user.attributes, field)) continue
    const message = `\`user\` declares no attribute \`${field}\`${hintFor(field, Object.keys(user.attributes))}`
    yield { code: 'unknown-name', message, path: [...path, 'allowedFields', index] }
  }
}

/** The roles of sign-in providers exist, and the names of providers are no other paths. */
export function* providers({ auth, roles }: Settings): Generator<ProjectFinding> {
  for (const [name, { role }] of Object.entries(auth.providers)) {
    const path = ['auth', 'providers', name]
    if (name === 'local')
      yield { code: 'reserved-name', message: '`local` is the sign-in with a password', path, atKey: true }
    yield* claimedRoles(role, [...path, 'role'], roles)
  }
}

/** Addresses can be read: the schema knows their beginnings only, and a request would be the first to fail. */
export function* addresses({ auth }: Settings): Generator<ProjectFinding> {
  const { mail } = auth
  const written: readonly (readonly [Path, string | null | undefined])[] = [
    ...Object.entries(auth.providers).flatMap(([name, { issuer, redirectUrls }]) => [
      [['auth', 'providers', name, 'issuer'], issuer] as const,
      ...(redirectUrls ?? []).map(
        (url, at) => [['auth', 'providers', name, 'redirectUrls', at], url] as const,
      ),
    ]),
    ...Object.entries(auth.issuers).flatMap(([name, { issuer, jwksUri }]) => [
      [['auth', 'issuers', name, 'issuer'], issuer] as const,
      [['auth', 'issuers', name, 'jwksUri'], jwksUri] as const,
    ]),
    [['auth', 'mail', 'resetUrl'], mail.resetUrl],
    [['auth', 'mail', 'confirmUrl'], mail.confirmUrl],
  ]
  for (const [path, url] of written) {
    if (url === null || url === undefined || url === '' || URL.canParse(url)) continue
    yield { code: 'bad-value', message: `\`${url}\` is not an address: its host or port is wrong`, path }
  }
}

/** Issuers are distinct, and their roles exist. */
export function* issuers({ auth, roles }: Settings): Generator<ProjectFinding> {
  const declared = Object.entries(auth.issuers)
  for (const [name, { issuer, role }] of declared) {
    const path = ['auth', 'issuers', name]
    const [first = name] = declared.find(([, other]) => other.issuer === issuer) ?? []
    if (first !== name) {
      const related = { path: ['auth', 'issuers', first], message: `\`${first}\` is here` }
      const message = `the issuers \`${first}\` and \`${name}\` are the same`
      yield { code: 'conflict', message, path, atKey: true, related }
    }
    yield* claimedRoles(role, [...path, 'role'], roles)
  }
}

function* claimedRoles(
  role: Settings['auth']['issuers'][string]['role'],
  path: Path,
  roles: Roles,
): Generator<ProjectFinding> {
  const mapped = Object.entries(role.map ?? {})
  for (const [value, key] of mapped) yield* knownRole(key, [...path, 'map', value], roles)
  if (role.default !== null) yield* knownRole(role.default, [...path, 'default'], roles)
  if (mapped.length === 0 || role.claim) return
  const message = '`map` needs the `claim` whose values it maps'
  yield { code: 'missing-key', message, path: [...path, 'map'], atKey: true }
}

function* knownRole(key: string, path: Path, roles: Roles): Generator<ProjectFinding> {
  if (Object.hasOwn(roles, key)) return
  yield {
    code: 'unknown-name',
    message: `unknown role \`${key}\`${didYouMean(key, Object.keys(roles))}`,
    path,
  }
}

/** `$claims` needs an issuer. */
export function* claims(settings: Settings): Generator<ProjectFinding> {
  if (Object.keys(settings.auth.issuers).length > 0) return
  const message = '`$claims` are of tokens of another issuer: declare it in `auth.issuers`'
  for (const { permission, path } of conditionalPermissions(settings))
    for (const term of ['where', 'set'] as const)
      for (const at of callersIn(permission[term] ?? null, [...path, term], /^\$claims(\.|$)/))
        yield { code: 'conflict', message, path: at }
}

/** The output size of HMAC-SHA256 in bytes. */
const MIN_LENGTH = 32

export function* jwtSecret({ auth }: Settings): Generator<ProjectFinding> {
  const isShort = ({ length }: string) => length > 0 && length < MIN_LENGTH
  const message = `is too short: use at least ${MIN_LENGTH} characters`
  if (isShort(auth.jwtSecret))
    yield { code: 'bad-value', message: `the \`jwtSecret\` ${message}`, path: ['auth', 'jwtSecret'] }
  for (const [index, secret] of auth.jwtPreviousSecrets.entries())
    if (isShort(secret)) {
      const path = ['auth', 'jwtPreviousSecrets', index]
      yield { code: 'bad-value', message: `this secret ${message}`, path }
    }
}
