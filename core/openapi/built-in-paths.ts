import type { Action } from '../access/actions.ts'
import { readableAttributes } from '../access/readable-attributes.ts'
import type { Attribute, ContentType } from '../model/model.ts'
import type { Settings } from '../project/settings/settings.ts'
import {
  arrayOf,
  closed,
  documentOf,
  documentSchema,
  eitherOf,
  type Schema,
  type Sight,
} from './answer-schemas.ts'
import {
  answerParameters,
  errorResponses,
  jsonResponse,
  type OperationTerms,
  type PathItem,
  readParameters,
  topPageParameters,
} from './operations.ts'
import { bodySchema } from './request-schemas.ts'

interface BuiltInTerms extends OperationTerms {
  readonly project: Settings
}

/** The paths of authentication, users, roles, files and locales. Their answers have no envelope and are flat in every format. */
export const builtInPaths = (terms: BuiltInTerms): Readonly<Record<string, PathItem>> => ({
  ...authPaths(terms),
  ...userPaths(terms),
  ...rolePaths(terms),
  ...uploadPaths(terms),
  ...localePaths(terms),
})

const flat = (sight: Sight): Sight => ({ ...sight, format: 'flat' })

interface Operation {
  readonly subject: string
  readonly action: Action
  readonly method: string
  /** Default: the operation's id is that of its permission. */
  readonly id?: string
  readonly summary: string
  readonly tag: string
  describe(sight: Sight): { readonly responses: Schema } & Schema
}

/** The operations that the caller may use. */
function pathItem(operations: readonly Operation[], terms: OperationTerms): PathItem {
  const entries = operations.flatMap(({ subject, action, method, id, summary, tag, describe }) => {
    const sight = terms.sightOf(subject, action)
    if (!sight) return []
    const { responses, ...rest } = describe(flat(sight))
    const faults = errorResponses(method === 'get' ? 'get' : 'write', terms)
    const head = { operationId: id ?? `${subject}.${action}`, summary, tags: [tag] }
    return [[method, { ...head, ...rest, responses: { ...responses, ...faults } }] as const]
  })
  return Object.fromEntries(entries)
}

const TEXT: Schema = { type: 'string' }
const FLAG: Schema = { type: 'boolean' }

const jsonBody = (schema: Schema): Schema => ({
  requestBody: { required: true, content: { 'application/json': { schema } } },
})

const credentials = (names: readonly string[]): Schema =>
  jsonBody(closed(Object.fromEntries(names.map(name => [name, TEXT])), names))

function authPaths(terms: BuiltInTerms): Readonly<Record<string, PathItem>> {
  const session = jsonResponse('A session', sessionSchema(terms))
  const post = (action: Action, summary: string, body: Schema, answer: Schema = session) =>
    pathItem(
      [
        {
          ...{ subject: 'auth', action, method: 'post', summary, tag: 'Authentication' },
          describe: () => ({ ...body, responses: { 200: answer } }),
        },
      ],
      terms,
    )
  const sent = closed({ email: TEXT, sent: FLAG }, ['email', 'sent'])
  const passwords = ['password', 'passwordConfirmation']
  return {
    '/auth/local': post('login', 'Sign in', credentials(['identifier', 'password'])),
    '/auth/local/register': terms.project.auth.register.enabled
      ? post('register', 'Register', registration(terms))
      : {},
    '/auth/change-password': post(
      'changePassword',
      'Change your password',
      credentials(['currentPassword', ...passwords]),
    ),
    '/auth/forgot-password': post(
      'forgotPassword',
      'Request a mail to reset a password',
      credentials(['email']),
      jsonResponse('The same whether or not there is an account', closed({ ok: FLAG }, ['ok'])),
    ),
    '/auth/reset-password': post('resetPassword', 'Reset a password', credentials(['code', ...passwords])),
    '/auth/send-email-confirmation': post(
      'sendEmailConfirmation',
      'Request a mail to confirm an address',
      credentials(['email']),
      jsonResponse('The same whether or not there is an account', sent),
    ),
    '/auth/email-confirmation': confirmation(terms),
  }
}

const confirmation = (terms: BuiltInTerms): PathItem =>
  pathItem(
    [
      {
        ...{ subject: 'auth', action: 'emailConfirmation', method: 'get', tag: 'Authentication' },
        summary: 'Confirm an address',
        describe: () => ({
          parameters: [{ name: 'confirmation', in: 'query', required: true, schema: TEXT }],
          responses: { 302: { description: 'To the page of the project' } },
        }),
      },
    ],
    terms,
  )

/** Registration may set more attributes only if the project says so. */
function registration({ model, project }: BuiltInTerms): Schema {
  const names = ['username', 'email', 'password']
  const more = project.auth.register.allowedFields.filter(name => model.builtIn.user.attributes.has(name))
  const others = Object.fromEntries(more.map(name => [name, {}]))
  return jsonBody(
    closed({ ...others, ...Object.fromEntries(names.map(name => [name, TEXT])) }, ['email', 'password']),
  )
}

/** The own user, without private attributes; after registration with the role, if the caller may read roles. */
function sessionSchema({ model, table, sightOf }: BuiltInTerms): Schema {
  return table.ref('session', 'Session', () => {
    const { user } = model.builtIn
    const sight = sightOf('auth', 'login') ?? sightOf('auth', 'register') ?? sightOf('auth', 'resetPassword')
    if (!sight) return {}
    const own: ReadonlySet<Attribute> = new Set(
      [...readableAttributes(user)].filter(({ kind, name }) => kind === 'scalar' || name === 'role'),
    )
    return closed({ jwt: TEXT, user: documentOf(user, own, flat(sight)) }, ['user'])
  })
}

const ID: Schema = { name: 'id', in: 'path', required: true, schema: { type: 'integer' } }

const withId = (item: PathItem): PathItem =>
  Object.keys(item).length === 0 ? item : { parameters: [ID], ...item }

function userPaths(terms: BuiltInTerms): Readonly<Record<string, PathItem>> {
  const { user } = terms.model.builtIn
  const { operation, answers, reads } = userOperations(terms)
  return {
    '/users': pathItem(
      [
        operation('get', 'find', 'List users', sight => ({
          parameters: [...reads(sight, 'find'), ...topPageParameters(terms.settings)],
          responses: { 200: jsonResponse('Users', arrayOf(answers(sight, 'find'))) },
        })),
        operation('post', 'create', 'Create a user', sight => ({
          ...userBody(sight, 'create', user),
          responses: { 201: jsonResponse('The user', eitherOf(answers(sight, 'create'), { type: 'null' })) },
        })),
      ],
      terms,
    ),
    ...ownUserPaths(terms),
    ...oneUserPaths(terms),
  }
}

function userOperations(terms: BuiltInTerms) {
  const { user } = terms.model.builtIn
  return {
    operation: (method: string, action: Action, summary: string, describe: Operation['describe']) => ({
      ...{ subject: 'users', action, method, summary, tag: 'Users' },
      describe,
    }),
    answers: (sight: Sight, action: Action): Schema => documentSchema(user, action, sight) ?? {},
    reads: (sight: Sight, action: Action): readonly Schema[] => readParameters(user, action, sight, terms),
  }
}

function ownUserPaths(terms: BuiltInTerms): Readonly<Record<string, PathItem>> {
  const { user } = terms.model.builtIn
  const { operation, answers } = userOperations(terms)
  return {
    '/users/count': pathItem(
      [
        operation('get', 'count', 'Count users', () => ({
          responses: { 200: jsonResponse('The number', { type: 'integer' }) },
        })),
      ],
      terms,
    ),
    '/users/me': pathItem(
      [
        operation('get', 'me', 'Read yourself', sight => ({
          parameters: answerParameters(user, 'me', sight, terms),
          responses: { 200: jsonResponse('You', answers(sight, 'me')) },
        })),
      ],
      terms,
    ),
    '/users/me/permissions': pathItem(
      [
        {
          ...operation('get', 'me', 'Your permissions', () => ({
            responses: { 200: jsonResponse('Packed rules of CASL', arrayOf({})) },
          })),
          id: 'users.permissions',
        },
      ],
      terms,
    ),
  }
}

function oneUserPaths(terms: BuiltInTerms): Readonly<Record<string, PathItem>> {
  const { user } = terms.model.builtIn
  const { operation, answers, reads } = userOperations(terms)
  const none = { 204: { description: 'There is no such user' } }
  return {
    '/users/{id}': withId(
      pathItem(
        [
          operation('get', 'findOne', 'Read a user', sight => ({
            parameters: reads(sight, 'findOne'),
            responses: {
              200: jsonResponse('The user', answers(sight, 'findOne')),
              ...none,
            },
          })),
          operation('put', 'update', 'Update a user', sight => ({
            ...userBody(sight, 'update', user),
            responses: {
              200: jsonResponse('The user', eitherOf(answers(sight, 'update'), { type: 'null' })),
            },
          })),
          operation('delete', 'delete', 'Delete a user', sight => ({
            responses: { 200: jsonResponse('The deleted user', answers(sight, 'delete')), ...none },
          })),
        ],
        terms,
      ),
    ),
  }
}

function userBody(sight: Sight, action: 'create' | 'update', user: ContentType): Schema {
  const access = sight.grants.writeAccess(user, action)
  if (!access) return {}
  const name = action === 'create' ? 'UserCreate' : 'UserUpdate'
  const required = action === 'create' ? ['email', 'username', 'password', 'role'] : []
  const mailed = new Set(['resetPasswordToken', 'confirmationToken'])
  const fields = new Set(
    [...user.attributes.keys()].filter(each => !mailed.has(each) && access.fields?.has(each) !== false),
  )
  return jsonBody(bodySchema(user, { ...access, fields }, sight, { name, required }))
}

function rolePaths(terms: BuiltInTerms): Readonly<Record<string, PathItem>> {
  const operation = (id: string, action: Action, summary: string, describe: (sight: Sight) => Schema) => ({
    ...{ subject: 'role', action, method: 'get', id, summary, tag: 'Roles' },
    describe: (sight: Sight) => ({
      responses: { 200: jsonResponse('Roles', describe(sight)) },
    }),
  })
  const role = (sight: Sight, action: Action, more: Readonly<Record<string, Schema>> = {}): Schema => {
    const readable = sight.grants.readAccess(terms.model.builtIn.role, action)?.readable ?? []
    const names = [...readable].filter(({ kind }) => kind === 'scalar').map(({ name }) => [name, {}])
    return closed({ ...Object.fromEntries(names), nb_users: { type: 'integer' }, ...more })
  }
  const permissions: Schema = { type: 'object', description: 'Permissions by plugin and controller' }
  const item = (made: Operation) => pathItem([made], terms)
  return {
    '/users-permissions/roles': item(
      operation('role.find', 'find', 'List roles', sight =>
        closed({ roles: arrayOf(role(sight, 'find')) }, ['roles']),
      ),
    ),
    '/users-permissions/roles/{id}': withId(
      item(
        operation('role.findOne', 'findOne', 'Read a role', sight =>
          closed({ role: role(sight, 'findOne', { permissions }) }, ['role']),
        ),
      ),
    ),
    '/users-permissions/permissions': item(
      operation('role.permissions', 'find', 'All permissions', () =>
        closed({ permissions }, ['permissions']),
      ),
    ),
  }
}

/** `isUrlSigned` is Strapi's flag in every record of a file. */
function uploadPaths(terms: BuiltInTerms): Readonly<Record<string, PathItem>> {
  const { file } = terms.model.builtIn
  const record = (sight: Sight, action: Action): Schema => {
    const readable = sight.grants.readAccess(file, action)?.readable ?? new Set<Attribute>()
    const names = [...readable].map(({ name }) => name).join(' ')
    return sight.table.ref(`file record ${sight.key} ${names}`, 'UploadedFile', () => {
      const { $ref } = documentOf(file, readable, sight)
      const known = sight.table.schemas[String($ref).split('/').at(-1) ?? ''] ?? {}
      const properties = known.properties as Readonly<Record<string, Schema>>
      return closed({ ...properties, isUrlSigned: FLAG }, ['id', 'documentId', 'isUrlSigned'])
    })
  }
  const operation = (method: string, action: Action, summary: string, describe: Operation['describe']) => ({
    ...{ subject: 'upload', action, method, summary, tag: 'Files' },
    describe,
  })
  const one = (sight: Sight, action: Action) => jsonResponse('The file', record(sight, action))
  return {
    '/upload': uploadItem(terms, record),
    '/upload/files': pathItem(
      [
        operation('get', 'find', 'List files', sight => ({
          parameters: [...readParameters(file, 'find', sight, terms), ...topPageParameters(terms.settings)],
          responses: { 200: jsonResponse('Files', arrayOf(record(sight, 'find'))) },
        })),
      ],
      terms,
    ),
    '/upload/files/{id}': withId(
      pathItem(
        [
          operation('get', 'findOne', 'Read a file', sight => ({
            parameters: answerParameters(file, 'findOne', sight, terms),
            responses: { 200: one(sight, 'findOne') },
          })),
          operation('delete', 'delete', 'Delete a file', sight => ({
            responses: { 200: one(sight, 'delete') },
          })),
        ],
        terms,
      ),
    ),
  }
}

/** One operation for both permissions: with `?id=` it changes a file, without it uploads files. */
function uploadItem(terms: BuiltInTerms, record: (sight: Sight, action: Action) => Schema): PathItem {
  const [creating, changing] = [terms.sightOf('upload', 'upload'), terms.sightOf('upload', 'update')]
  if (!creating && !changing) return {}
  const schema = closed({
    files: { type: 'array', items: { type: 'string', contentMediaType: 'application/octet-stream' } },
    ...{ fileInfo: TEXT, ref: TEXT, refId: TEXT, field: TEXT },
  })
  const id = { name: 'id', in: 'query', schema: { type: 'integer' }, description: 'The file to change' }
  return {
    post: {
      ...{ operationId: 'upload.upload', summary: 'Upload files, or change one', tags: ['Files'] },
      ...(changing && { parameters: [{ ...id, ...(!creating && { required: true }) }] }),
      requestBody: { required: true, content: { 'multipart/form-data': { schema } } },
      responses: {
        ...(creating && { 201: jsonResponse('The files', arrayOf(record(flat(creating), 'upload'))) }),
        ...(changing && { 200: jsonResponse('The changed file', record(flat(changing), 'update')) }),
        ...errorResponses('write', terms),
      },
    },
  }
}

function localePaths(terms: BuiltInTerms): Readonly<Record<string, PathItem>> {
  const { locale } = terms.model.builtIn
  const names = [...readableAttributes(locale)].filter(({ kind }) => kind === 'scalar')
  const schema = closed({
    ...Object.fromEntries(names.map(({ name }) => [name, {}])),
    isDefault: FLAG,
  })
  return {
    '/i18n/locales': pathItem(
      [
        {
          ...{ subject: 'i18n', action: 'find', method: 'get', summary: 'List locales', tag: 'Locales' },
          describe: () => ({
            responses: { 200: jsonResponse('Locales', arrayOf(schema)) },
          }),
        },
      ],
      terms,
    ),
  }
}
