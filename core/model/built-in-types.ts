import type { AttributeDeclaration, ScalarDeclaration, ScalarType } from '../project/settings/declarations.ts'

/** The declaration of a built-in content-type. */
export interface BuiltInDeclaration {
  readonly key: 'user' | 'role' | 'file' | 'locale'
  readonly uid: string
  readonly pluralApiId: string
  readonly attributes: Readonly<Record<string, AttributeDeclaration>>
}

const common = { required: false, private: false, writable: true }

const scalar = (type: ScalarType, more: Partial<ScalarDeclaration> = {}): ScalarDeclaration => ({
  ...common,
  type,
  unique: false,
  ...more,
})

/**
 * reference/rest.md#14-access. Not in Strapi: a new password increments `sessionVersion`, which ends older sessions but
 * `keptSession`, the one that changed it.
 */
const user: BuiltInDeclaration = {
  key: 'user',
  uid: 'plugin::users-permissions.user',
  pluralApiId: 'users',
  attributes: {
    username: scalar('string', { required: true, unique: true, minLength: 3 }),
    email: scalar('email', { required: true, unique: true, minLength: 6, lowerCase: true }),
    provider: scalar('string', { default: 'local' }),
    password: scalar('password', { private: true, minLength: 6 }),
    resetPasswordToken: scalar('string', { private: true }),
    confirmationToken: scalar('string', { private: true }),
    confirmed: scalar('boolean', { default: false }),
    blocked: scalar('boolean', { default: false }),
    sessionVersion: scalar('integer', { private: true, writable: false, default: 0 }),
    keptSession: scalar('string', { private: true, writable: false }),
    role: { ...common, type: 'relation', relation: 'manyToOne', target: 'role', inversedBy: 'users' },
  },
}

/** `type` is the role's key in project.yaml. */
const role: BuiltInDeclaration = {
  key: 'role',
  uid: 'plugin::users-permissions.role',
  pluralApiId: 'roles',
  attributes: {
    name: scalar('string', { required: true, minLength: 3 }),
    description: scalar('string'),
    type: scalar('string', { unique: true }),
    users: { ...common, type: 'relation', relation: 'oneToMany', target: 'user', mappedBy: 'role' },
  },
}

/** reference/rest.md#8-populate, "Media". */
const file: BuiltInDeclaration = {
  key: 'file',
  uid: 'plugin::upload.file',
  pluralApiId: 'files',
  attributes: {
    name: scalar('string', { required: true }),
    alternativeText: scalar('text'),
    caption: scalar('text'),
    focalPoint: scalar('json'),
    width: scalar('integer'),
    height: scalar('integer'),
    formats: scalar('json'),
    hash: scalar('string', { required: true }),
    ext: scalar('string'),
    mime: scalar('string', { required: true }),
    size: scalar('decimal', { required: true }),
    url: scalar('text', { required: true }),
    previewUrl: scalar('text'),
    provider: scalar('string', { required: true }),
    provider_metadata: scalar('json'),
  },
}

/** reference/rest.md#11-locales. The project declares the default locale, not the row. */
const locale: BuiltInDeclaration = {
  key: 'locale',
  uid: 'plugin::i18n.locale',
  pluralApiId: 'locales',
  attributes: {
    name: scalar('string'),
    code: scalar('string', { unique: true }),
  },
}

export const BUILT_IN_TYPES: readonly BuiltInDeclaration[] = [user, role, file, locale]
