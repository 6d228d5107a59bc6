import type { ContentType } from '../model/model.ts'

/** What may be done to content-types. `publish` and `readDrafts` need drafts, `createLocalization` needs locales. */
const CONTENT_ACTIONS = [
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

/** Subjects that every project has beside its content-types, each with all that may be done to it. */
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

export const BUILT_IN_SUBJECTS = Object.keys(BUILT_IN_ACTIONS) as readonly BuiltInSubject[]

export const isBuiltInSubject = (subject: string): subject is BuiltInSubject =>
  Object.hasOwn(BUILT_IN_ACTIONS, subject)

const SUBJECT_OF_BUILT_IN: ReadonlyMap<string, BuiltInSubject> = new Map([
  ['user', 'users'],
  ['file', 'upload'],
  ['locale', 'i18n'],
  ['role', 'role'],
])

/** What permissions call a content-type: its key, or the subject that a built-in one belongs to. */
export function subjectOf(type: ContentType): string {
  if (!type.builtIn) return type.key
  const subject = SUBJECT_OF_BUILT_IN.get(type.key)
  if (subject === undefined) throw new TypeError(`no subject for the built-in type ${type.uid}`)
  return subject
}

/** All that may be done to documents of a content-type. */
export function actionsOf(type: ContentType): readonly Action[] {
  if (type.builtIn) {
    const subject = subjectOf(type)
    return isBuiltInSubject(subject) ? BUILT_IN_ACTIONS[subject] : []
  }
  return CONTENT_ACTIONS.filter(action => applies(action, type))
}

export const applies = (action: ContentAction, type: ContentType): boolean => {
  if (action === 'publish' || action === 'readDrafts') return type.draftAndPublish
  return action !== 'createLocalization' || type.localized
}

export const isContentAction = (action: string): action is ContentAction =>
  (CONTENT_ACTIONS as readonly string[]).includes(action)

export const CONTENT_ACTION_NAMES: readonly ContentAction[] = CONTENT_ACTIONS
