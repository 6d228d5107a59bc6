import { parse } from 'node:path'
import { BUILT_IN_ACTIONS, type BuiltInSubject, CONTENT_ACTIONS } from '../../../core/access/actions.ts'
import { ticked } from '../../../core/base/text.ts'
import { free, type Names } from '../names.ts'
import { textAt } from '../read/literal-value.ts'
import type { StrapiFacts, StrapiRole } from '../read/read-facts.ts'
import type { StrapiProject } from '../read/strapi-project.ts'
import { type DocumentEntry, flow, type GivenNote, lost, section } from '../yaml-document.ts'
import { toKebabCase } from './to-holder.ts'
import { CORE_ACTIONS, isUnserved } from './to-routes.ts'
import { whyNoUsers } from './to-settings.ts'
import { hasDrafts, isLocalized } from './to-types.ts'

/** The section `roles`. */
export function toRoles(
  project: StrapiProject,
  { roles }: StrapiFacts,
  names: Names,
): DocumentEntry | undefined {
  const options: RoleOptions = {
    names,
    controllers: ownControllers(project),
    withDrafts: typesWithDrafts(project, names),
    withFiles: project.version === 4 ? typesWithFiles(project, names) : new Set(),
    isUsual: hasUsualAuth(roles),
    isUnserved: hadNoEffect(project),
  }
  // Files and tables of the plugin may still be there without it: their permissions had no effect.
  const hasUsers = whyNoUsers(project) === null
  const keys = roleKeys(roles.map(({ type }) => type))
  return section(
    'roles',
    roles
      .map((role, index) => ({ role, key: keys[index] ?? role.type }))
      .toSorted((one, two) => placeOf(one.role) - placeOf(two.role))
      .map(({ role, key }) => toRole(hasUsers ? role : { ...role, actions: [] }, key, options)),
  )
}

/** Permissions of roles that Strapi keeps without an effect: of routes that it does not serve, and of content-types without locales. */
function hadNoEffect(project: StrapiProject): RoleOptions['isUnserved'] {
  const isWithoutRoute = isUnserved(project)
  const localized = new Set(project.contentTypes.filter(isLocalized).map(({ uid }) => uid))
  return (uid, action) =>
    action === 'createLocalization' ? !localized.has(uid) : isWithoutRoute(uid, action)
}

interface RoleOptions {
  readonly names: Names
  /** Uids of custom controllers, which need no content-type. */
  readonly controllers: ReadonlySet<string>
  /** Keys of content-types. */
  readonly withDrafts: ReadonlySet<string>
  /** Keys of content-types of Strapi 4 that forms create with files. */
  readonly withFiles: ReadonlySet<string>
  /** `public` has exactly the default permissions on `auth`. */
  readonly isUsual: boolean
  /** True if Strapi had no way to perform an action of a content-type. */
  readonly isUnserved: (uid: string, action: string) => boolean
}

/** `src/api/pay/controllers/stripe.js` → `api::pay.stripe` */
const ownControllers = ({ ownCode }: StrapiProject): ReadonlySet<string> =>
  new Set(
    ownCode.flatMap(({ kind, api, file }) =>
      kind === 'controller' && api !== undefined
        ? [`api::${toKebabCase(api)}.${toKebabCase(parse(file).name)}`]
        : [],
    ),
  )

const typesWithDrafts = ({ contentTypes }: StrapiProject, { types }: Names): ReadonlySet<string> =>
  new Set(contentTypes.filter(hasDrafts).flatMap(({ uid }) => types.get(uid)?.key ?? []))

const typesWithFiles = ({ contentTypes }: StrapiProject, { types }: Names): ReadonlySet<string> =>
  new Set(
    contentTypes
      .filter(({ attributes }) => [...attributes.values()].some(each => textAt(each, 'type') === 'media'))
      .flatMap(({ uid }) => types.get(uid)?.key ?? []),
  )

/** The first two get the numbers that they have in Strapi, which front-ends send: `role: 1`. */
const placeOf = ({ type }: StrapiRole): number => {
  const place = ['authenticated', 'public'].indexOf(type)
  return place < 0 ? 2 : place
}

/**
 * The keys of roles in project.yaml, each of one role, in the order of the roles: users must not get the permissions of another
 * role. Types that are keys stay; of others only letters from a to z and digits are left.
 */
export function roleKeys(types: readonly string[]): readonly string[] {
  const isKey = (type: string): boolean => /^[A-Za-z][A-Za-z0-9_-]*$/.test(type)
  const taken = new Set(types.filter(isKey))
  const stayed = new Set<string>()
  return types.map(type => {
    const stays = isKey(type) && !stayed.has(type)
    if (stays) stayed.add(type)
    return stays ? type : free(toKebabCase(`role ${type}`), taken)
  })
}

/** Strapi's descriptions of its two built-in roles. */
const USUAL: readonly string[] = [
  'Default role given to authenticated user.',
  'Default role given to unauthenticated user.',
]

const FILES_NOTE =
  'forms that create or change documents with files (`files.cover`) need `upload: [upload]`; Strapi 4 asked for no permission'

/** Strapi's permission to upload is also that for `POST /api/upload?id=1`, which changes a file. */
const UPDATE_NOTE =
  '`upload: [update]`: in Strapi this role can change any file, as it uploads files. Remove the word where it should only add files. In Strapi it can also put files into any document (`ref`), which needs `update` of that document here'

/** True if the role could send files with documents, and may not upload them. */
const sendsFiles = (subjects: Subjects, withFiles: ReadonlySet<string>): boolean =>
  !subjects.get('upload')?.has('upload') &&
  [...subjects].some(
    ([subject, actions]) => withFiles.has(subject) && (actions.has('create') || actions.has('update')),
  )

/** Strapi has no separate permission for drafts: every role with `find` may read drafts. */
const DRAFTS_NOTE =
  '`readDrafts`: in Strapi this role can read drafts (`status=draft`), as it finds documents of these types. Remove the word where it should read published documents only'

function toRole(role: StrapiRole, key: string, options: RoleOptions): DocumentEntry | undefined {
  const { withDrafts, withFiles, isUsual } = options
  const name = role.name === key.charAt(0).toUpperCase() + key.slice(1) ? undefined : role.name || undefined
  const description = USUAL.includes(role.description) ? undefined : role.description || undefined
  const { subjects, unknown } = grantsOf(role, options)
  if (isUsual) withoutOpenAuth(subjects)
  const readsDrafts = addReadDrafts(subjects, withDrafts)
  const isNamed = !isUsual && key === 'public' && !subjects.has('auth')
  const permissions = [...subjects].map(([subject, actions]) =>
    flow(
      subject,
      [...actions].toSorted((one, two) => orderOf(one) - orderOf(two)),
    ),
  )
  return section(
    key,
    [
      flow('name', name),
      flow('description', description),
      section('permissions', [...permissions, ...(isNamed ? [flow('auth', [])] : [])]) ??
        flow('permissions', {}),
    ],
    [
      ...(readsDrafts ? [DRAFTS_NOTE] : []),
      ...(sendsFiles(subjects, withFiles) ? [FILES_NOTE] : []),
      ...(subjects.get('upload')?.has('update') ? [UPDATE_NOTE] : []),
      ...unknownNotes(unknown, options),
    ],
  )
}

/** Permissions without a counterpart. Strapi keeps those of content-types that were deleted. */
function unknownNotes(
  actions: readonly string[],
  { names: { types }, controllers }: RoleOptions,
): readonly GivenNote[] {
  const isOfRoles = (action: string) => action.startsWith('plugin::users-permissions.role.')
  const isGone = (action: string) => {
    const uid = action.slice(0, action.lastIndexOf('.'))
    return action.startsWith('api::') && !types.has(uid) && !controllers.has(uid)
  }
  const [roles, gone] = [actions.filter(isOfRoles), actions.filter(isGone)]
  const others = actions.filter(action => !isOfRoles(action) && !isGone(action))
  const such = others.length === 1 ? 'action' : 'actions'
  const successor = 'The extension that takes over says in `auth` who may call it'
  return [
    ...(others.length === 0
      ? []
      : [lost(`${ticked(others)} did not come over: Plinth has no such ${such}. ${successor}`)]),
    ...(roles.length === 0 ? [] : [`${ticked(roles)}: roles are declared here, and no request changes them`]),
    ...(gone.length === 0 ? [] : [`${ticked(gone)}: the project has no such content-type`]),
  ]
}

/** True if the role could read drafts of any content-type. */
function addReadDrafts(subjects: Subjects, withDrafts: ReadonlySet<string>): boolean {
  const readers = [...subjects].filter(
    ([subject, actions]) => withDrafts.has(subject) && (actions.has('find') || actions.has('findOne')),
  )
  for (const [, actions] of readers) actions.add('readDrafts')
  return readers.length > 0
}

const orderOf = (action: string): number => {
  const place = ACTIONS.indexOf(action)
  return place < 0 ? ACTIONS.length : place
}

type Subjects = Map<string, Set<string>>

const ACTIONS: readonly string[] = CONTENT_ACTIONS

function grantsOf(
  { actions }: StrapiRole,
  { names, isUnserved }: RoleOptions,
): { subjects: Subjects; unknown: readonly string[] } {
  const subjects: Subjects = new Map()
  const unknown: string[] = []
  for (const action of actions) {
    const grant = builtInGrant(action) ?? typeGrant(action, { names, isUnserved })
    if (grant === undefined) unknown.push(action)
    else if (grant !== 'nothing')
      subjects.set(grant.subject, (subjects.get(grant.subject) ?? new Set()).add(grant.action))
  }
  const files = subjects.get('upload')
  if (files?.has('upload')) files.add('update')
  const places = [...names.types.values()].map(({ key }) => key)
  return {
    subjects: new Map([...subjects].toSorted(([one], [two]) => place(one, places) - place(two, places))),
    unknown,
  }
}

/** Content-types in their order, then built-in subjects. */
const place = (subject: string, places: readonly string[]): number => {
  const found = places.indexOf(subject)
  return found < 0 ? places.length : found
}

interface Grant {
  readonly subject: string
  readonly action: string
}

/** With that of the plugin i18n. An action of a project's controller may have the name of another one of ours, such as `publish`. */
const STRAPI_ACTIONS = [...CORE_ACTIONS, 'createLocalization']

/** `api::blog.article.find`: an API, a controller named after its content-type, an action. */
function typeGrant(
  action: string,
  { names, isUnserved }: Pick<RoleOptions, 'names' | 'isUnserved'>,
): Grant | 'nothing' | undefined {
  const [, uid = '', verb = ''] = /^((?:api|plugin)::[^.]+\.[^.]+)\.([^.]+)$/.exec(action) ?? []
  const type = names.types.get(uid)
  if (isUnserved(uid, verb)) return 'nothing'
  return type !== undefined && STRAPI_ACTIONS.includes(verb) ? { subject: type.key, action: verb } : undefined
}

/** The controllers of Strapi's plugins and their subjects in Plinth. */
const CONTROLLERS: ReadonlyMap<string, BuiltInSubject> = new Map([
  ['plugin::users-permissions.auth', 'auth'],
  ['plugin::users-permissions.user', 'users'],
  ['plugin::users-permissions.role', 'role'],
  ['plugin::upload.content-api', 'upload'],
  ['plugin::i18n.locales', 'i18n'],
])

/** Actions with another name in Plinth. */
const RENAMED: ReadonlyMap<string, string> = new Map([
  ['callback', 'login'],
  ['destroy', 'delete'],
  ['listLocales', 'find'],
])

/** Actions that are public in Strapi but have no effect unless configured. */
const IDLE: ReadonlySet<string> = new Set([
  'plugin::users-permissions.auth.connect',
  'plugin::users-permissions.auth.logout',
  'plugin::users-permissions.auth.refresh',
  'plugin::users-permissions.auth.getSessions',
  'plugin::users-permissions.auth.revokeSession',
  'plugin::users-permissions.permissions.getPermissions',
])

function builtInGrant(action: string): Grant | 'nothing' | undefined {
  if (IDLE.has(action)) return 'nothing'
  const [, controller = '', verb = ''] = /^(.+)\.([^.]+)$/.exec(action) ?? []
  const subject = CONTROLLERS.get(controller)
  if (subject === undefined) return undefined
  const ours = RENAMED.get(verb) ?? verb
  const known: readonly string[] = BUILT_IN_ACTIONS[subject]
  return known.includes(ours) ? { subject, action: ours } : undefined
}

/** Public by default in Plinth, unless `public` configures `auth`. */
const OPEN: readonly string[] = BUILT_IN_ACTIONS.auth.filter(action => action !== 'changePassword')

function hasUsualAuth(roles: readonly StrapiRole[]): boolean {
  const visitors = roles.find(({ type }) => type === 'public')
  const granted = visitors?.actions
    .map(builtInGrant)
    .flatMap(grant =>
      grant !== undefined && grant !== 'nothing' && grant.subject === 'auth' ? [grant.action] : [],
    )
  return (
    granted !== undefined &&
    OPEN.every(action => granted.includes(action)) &&
    !granted.includes('changePassword')
  )
}

function withoutOpenAuth(subjects: Subjects): void {
  const auth = subjects.get('auth')
  for (const action of OPEN) auth?.delete(action)
  if (auth?.size === 0) subjects.delete('auth')
}

/** Tokens cannot be converted: Strapi stores them as hashes with its own salt. */
export const tokenNotes = ({ tokens }: StrapiFacts): readonly string[] =>
  tokens.map(({ name, type }) => {
    const called = toKebabCase(name) || 'token'
    const kind = ['read-only', 'full-access', 'custom'].includes(type) ? type : 'read-only'
    return `the API token \`${name}\` did not come over: \`plinth token ${called} --type ${kind}\` makes another`
  })
