import type { ContentType, Model } from '../model/model.ts'

/** Actions on content-types. `publish` and `readDrafts` need drafts, `createLocalization` needs locales. */
export const CONTENT_ACTIONS = [
  'find',
  'findOne',
  'create',
  'update',
  'delete',
  'publish',
  'readDrafts',
  'createLocalization',
] as const
export type ContentAction = (typeof CONTENT_ACTIONS)[number]

/** Subjects that every project has in addition to its content-types, each with its actions. */
export const BUILT_IN_ACTIONS = {
  users: ['find', 'findOne', 'me', 'count', 'create', 'update', 'delete'],
  auth: [
    'login',
    'register',
    'forgotPassword',
    'resetPassword',
    'changePassword',
    'emailConfirmation',
    'sendEmailConfirmation',
  ],
  upload: ['find', 'findOne', 'upload', 'update', 'delete'],
  i18n: ['find'],
  role: ['find', 'findOne'],
} as const satisfies Record<string, readonly string[]>

export type BuiltInSubject = keyof typeof BUILT_IN_ACTIONS
export type Action = ContentAction | (typeof BUILT_IN_ACTIONS)[BuiltInSubject][number]

export const isBuiltInSubject = (subject: string): subject is BuiltInSubject =>
  Object.hasOwn(BUILT_IN_ACTIONS, subject)

const SUBJECT_OF_BUILT_IN: ReadonlyMap<string, BuiltInSubject> = new Map([
  ['user', 'users'],
  ['file', 'upload'],
  ['locale', 'i18n'],
  ['role', 'role'],
])

/** The subject of a content-type in permissions: its key, or the built-in subject that it belongs to. */
export function subjectOf(type: ContentType): string {
  if (!type.builtIn) return type.key
  const subject = SUBJECT_OF_BUILT_IN.get(type.key)
  if (subject === undefined) throw new TypeError(`no subject for the built-in type ${type.uid}`)
  return subject
}

/** The content-types by their subjects. */
export const typesBySubject = ({
  contentTypes,
}: Pick<Model, 'contentTypes'>): ReadonlyMap<string, ContentType> =>
  new Map([...contentTypes.values()].map(type => [subjectOf(type), type]))

/** All actions on documents of a content-type. */
export function actionsOf(type: ContentType): readonly Action[] {
  const subject = subjectOf(type)
  if (type.builtIn && isBuiltInSubject(subject)) return BUILT_IN_ACTIONS[subject]
  return CONTENT_ACTIONS.filter(action => missingFeature(action, type) === null)
}

/** The feature that an action needs and the content-type does not have; null: the action applies. */
export function missingFeature(action: string, type: ContentType): 'draftAndPublish' | 'localized' | null {
  if (action === 'publish' || action === 'readDrafts') return type.draftAndPublish ? null : 'draftAndPublish'
  return action === 'createLocalization' && !type.localized ? 'localized' : null
}

/** Which parts of a permission apply to an action. */
export interface PermissionParts {
  readonly where: boolean
  readonly fields: boolean
  readonly set: boolean
}

const NONE: PermissionParts = { where: false, fields: false, set: false }
const ROWS: PermissionParts = { where: true, fields: false, set: false }
const READ: PermissionParts = { where: true, fields: true, set: false }
const WRITE: PermissionParts = { where: true, fields: true, set: true }

const PARTS_BY_ACTION: ReadonlyMap<string, PermissionParts> = new Map([
  ['find', READ],
  ['findOne', READ],
  ['count', ROWS],
  ['me', { where: false, fields: true, set: false }],
  ['create', WRITE],
  ['update', WRITE],
  ['createLocalization', WRITE],
  ['delete', ROWS],
  ['publish', ROWS],
  ['readDrafts', ROWS],
])

/** Actions of `auth`, and uploading, take no parts: they are granted as a whole or not at all. */
export const permissionPartsOf = (action: string): PermissionParts => PARTS_BY_ACTION.get(action) ?? NONE

const READS: ReadonlySet<string> = new Set(['find', 'findOne', 'me', 'count'])

/** Actions that return documents. The others return only what they wrote. */
export const isReadAction = (action: string): boolean => READS.has(action)

/**
 * Actions that have no route of their own in `routesConfig`: `/actions/…/unpublish`, `/actions/…/discard-draft` and a new locale
 * of Strapi 4 change a document, so what is configured for the route `update` applies to them.
 */
export const CHANGES_OF_UPDATE = ['publish', 'createLocalization'] as const
