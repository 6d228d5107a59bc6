import type { Action } from '../access/actions.ts'
import { readableAttributes } from '../access/readable-attributes.ts'
import type { Attribute, ContentType } from '../model/model.ts'
import {
  accountPaths,
  type BuiltInOptions,
  type DescribedOperation,
  FLAG,
  flat,
  jsonBody,
  pathItem,
  TEXT,
} from './account-paths.ts'
import {
  arrayOf,
  closed,
  documentOf,
  documentSchema,
  eitherOf,
  type Schema,
  type SchemaContext,
} from './answer-schemas.ts'
import {
  answerParameters,
  errorResponses,
  jsonResponse,
  type PathItem,
  readParameters,
  topPageParameters,
} from './operations.ts'
import { bodySchema } from './request-schemas.ts'
import { searchPath } from './search-path.ts'

/** The paths of authentication, users, roles, files and locales. Their answers have no envelope and are flat in every format. */
export const builtInPaths = (options: BuiltInOptions): Readonly<Record<string, PathItem>> => ({
  ...accountPaths(options),
  ...userPaths(options),
  ...rolePaths(options),
  ...uploadPaths(options),
  ...localePaths(options),
  ...schemaPaths(options),
  ...searchPath(options),
})

const ID: Schema = { name: 'id', in: 'path', required: true, schema: { type: 'integer' } }

const withId = (item: PathItem): PathItem =>
  Object.keys(item).length === 0 ? item : { parameters: [ID], ...item }

function userPaths(options: BuiltInOptions): Readonly<Record<string, PathItem>> {
  const { user } = options.model.builtIn
  const { operation, answers, reads } = userOperations(options)
  return {
    '/users': pathItem(
      [
        operation('get', 'find', 'List users', context => ({
          parameters: [...reads(context, 'find'), ...topPageParameters(options.settings)],
          responses: { 200: jsonResponse('Users', arrayOf(answers(context, 'find'))) },
        })),
        operation('post', 'create', 'Create a user', context => ({
          ...userBody(context, 'create', user),
          responses: {
            201: jsonResponse('The user', eitherOf(answers(context, 'create'), { type: 'null' })),
          },
        })),
      ],
      options,
    ),
    ...ownUserPaths(options),
    ...oneUserPaths(options),
  }
}

function userOperations(options: BuiltInOptions) {
  const { user } = options.model.builtIn
  return {
    operation: (
      method: string,
      action: Action,
      summary: string,
      describe: DescribedOperation['describe'],
    ) => ({
      ...{ subject: 'users', action, method, summary, tag: 'Users' },
      describe,
    }),
    answers: (context: SchemaContext, action: Action): Schema => documentSchema(user, action, context) ?? {},
    reads: (context: SchemaContext, action: Action): readonly Schema[] =>
      readParameters(user, action, context, options),
  }
}

function ownUserPaths(options: BuiltInOptions): Readonly<Record<string, PathItem>> {
  const { user } = options.model.builtIn
  const { operation, answers } = userOperations(options)
  return {
    '/users/count': pathItem(
      [
        operation('get', 'count', 'Count users', () => ({
          responses: { 200: jsonResponse('The number', { type: 'integer' }) },
        })),
      ],
      options,
    ),
    '/users/me': pathItem(
      [
        operation('get', 'me', 'Read yourself', context => ({
          parameters: answerParameters(user, 'me', context, options),
          responses: { 200: jsonResponse('You', answers(context, 'me')) },
        })),
      ],
      options,
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
      options,
    ),
  }
}

function oneUserPaths(options: BuiltInOptions): Readonly<Record<string, PathItem>> {
  const { user } = options.model.builtIn
  const { operation, answers, reads } = userOperations(options)
  const none = { 204: { description: 'There is no such user' } }
  return {
    '/users/{id}': withId(
      pathItem(
        [
          operation('get', 'findOne', 'Read a user', context => ({
            parameters: reads(context, 'findOne'),
            responses: {
              200: jsonResponse('The user', answers(context, 'findOne')),
              ...none,
            },
          })),
          operation('put', 'update', 'Update a user', context => ({
            ...userBody(context, 'update', user),
            responses: {
              200: jsonResponse('The user', eitherOf(answers(context, 'update'), { type: 'null' })),
            },
          })),
          operation('delete', 'delete', 'Delete a user', context => ({
            responses: { 200: jsonResponse('The deleted user', answers(context, 'delete')), ...none },
          })),
        ],
        options,
      ),
    ),
  }
}

function userBody(context: SchemaContext, action: 'create' | 'update', user: ContentType): Schema {
  const access = context.grants.writeAccess(user, action)
  if (!access) return {}
  const name = action === 'create' ? 'UserCreate' : 'UserUpdate'
  const required = action === 'create' ? ['email', 'username', 'password', 'role'] : []
  const mailed = new Set(['resetPasswordToken', 'confirmationToken'])
  const fields = new Set(
    [...user.attributes.keys()].filter(each => !mailed.has(each) && access.fields?.has(each) !== false),
  )
  return jsonBody(bodySchema(user, { ...access, fields }, context, { name, required }))
}

function rolePaths(options: BuiltInOptions): Readonly<Record<string, PathItem>> {
  const operation = (
    id: string,
    action: Action,
    summary: string,
    describe: (context: SchemaContext) => Schema,
  ) => ({
    ...{ subject: 'role', action, method: 'get', id, summary, tag: 'Roles' },
    describe: (context: SchemaContext) => ({
      responses: { 200: jsonResponse('Roles', describe(context)) },
    }),
  })
  const role = (
    context: SchemaContext,
    action: Action,
    more: Readonly<Record<string, Schema>> = {},
  ): Schema => {
    const readable = context.grants.readAccess(options.model.builtIn.role, action)?.readable ?? []
    const names = [...readable].filter(({ kind }) => kind === 'scalar').map(({ name }) => [name, {}])
    return closed({ ...Object.fromEntries(names), nb_users: { type: 'integer' }, ...more })
  }
  const permissions: Schema = { type: 'object', description: 'Permissions by plugin and controller' }
  const item = (made: DescribedOperation) => pathItem([made], options)
  return {
    '/users-permissions/roles': item(
      operation('role.find', 'find', 'List roles', context =>
        closed({ roles: arrayOf(role(context, 'find')) }, ['roles']),
      ),
    ),
    '/users-permissions/roles/{id}': withId(
      item(
        operation('role.findOne', 'findOne', 'Read a role', context =>
          closed({ role: role(context, 'findOne', { permissions }) }, ['role']),
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
function uploadPaths(options: BuiltInOptions): Readonly<Record<string, PathItem>> {
  const { file } = options.model.builtIn
  const record = (context: SchemaContext, action: Action): Schema => {
    const readable = context.grants.readAccess(file, action)?.readable ?? new Set<Attribute>()
    const names = [...readable].map(({ name }) => name).join(' ')
    return context.table.ref(`file record ${context.key} ${names}`, 'UploadedFile', () => {
      const { $ref } = documentOf(file, readable, context)
      const known = context.table.schemas[String($ref).split('/').at(-1) ?? ''] ?? {}
      const properties = known.properties as Readonly<Record<string, Schema>>
      return closed({ ...properties, isUrlSigned: FLAG }, ['id', 'documentId', 'isUrlSigned'])
    })
  }
  const operation = (
    method: string,
    action: Action,
    summary: string,
    describe: DescribedOperation['describe'],
  ) => ({
    ...{ subject: 'upload', action, method, summary, tag: 'Files' },
    describe,
  })
  const one = (context: SchemaContext, action: Action) => jsonResponse('The file', record(context, action))
  return {
    '/upload': uploadItem(options, record),
    '/upload/files': pathItem(
      [
        operation('get', 'find', 'List files', context => ({
          parameters: [
            ...readParameters(file, 'find', context, options),
            ...topPageParameters(options.settings),
          ],
          responses: { 200: jsonResponse('Files', arrayOf(record(context, 'find'))) },
        })),
      ],
      options,
    ),
    '/upload/files/{id}': withId(
      pathItem(
        [
          operation('get', 'findOne', 'Read a file', context => ({
            parameters: answerParameters(file, 'findOne', context, options),
            responses: { 200: one(context, 'findOne') },
          })),
          operation('delete', 'delete', 'Delete a file', context => ({
            responses: { 200: one(context, 'delete') },
          })),
        ],
        options,
      ),
    ),
  }
}

/** One operation for both permissions: with `?id=` it changes a file, without it uploads files. */
function uploadItem(
  options: BuiltInOptions,
  record: (context: SchemaContext, action: Action) => Schema,
): PathItem {
  const [creating, changing] = [options.contextOf('upload', 'upload'), options.contextOf('upload', 'update')]
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
        ...errorResponses('write', options),
      },
    },
  }
}

function localePaths(options: BuiltInOptions): Readonly<Record<string, PathItem>> {
  const { locale } = options.model.builtIn
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
      options,
    ),
  }
}

/** The content-types and components that an API token may read, in Strapi's form. */
function schemaPaths(options: BuiltInOptions): Readonly<Record<string, PathItem>> {
  if (options.caller.kind !== 'token') return {}
  const { contentType, component } = schemasOfTypes(options)
  const get = (name: string, summary: string, parameters: readonly Schema[], data: Schema): PathItem => ({
    get: {
      ...{ operationId: `contentTypeBuilder.${name}`, summary, tags: ['Schemas'] },
      ...(parameters.length > 0 && { parameters }),
      responses: {
        200: jsonResponse(summary, closed({ data }, ['data'])),
        ...errorResponses('get', options),
      },
    },
  })
  const kind = { name: 'kind', in: 'query', schema: { enum: ['collectionType', 'singleType'] } }
  const uid = { name: 'uid', in: 'path', required: true, schema: TEXT }
  const folder = '/content-type-builder'
  return {
    [`${folder}/content-types`]: get('findTypes', 'List content-types', [kind], arrayOf(contentType)),
    [`${folder}/content-types/{uid}`]: get('findType', 'Read a content-type', [uid, kind], contentType),
    [`${folder}/components`]: get('findComponents', 'List components', [], arrayOf(component)),
    [`${folder}/components/{uid}`]: get('findComponent', 'Read a component', [uid], component),
  }
}

function schemasOfTypes({ table }: BuiltInOptions) {
  const named = (names: readonly string[], schema: Schema) =>
    Object.fromEntries(names.map(name => [name, schema]))
  const attribute = table.ref('schema attribute', 'SchemaAttribute', () => {
    const texts = ['relation', 'target', 'inversedBy', 'mappedBy', 'component', 'regex', 'targetField']
    const lists = named(['enum', 'components', 'allowedTypes'], arrayOf(TEXT))
    const flags = named(['required', 'unique', 'multiple', 'private', 'repeatable'], FLAG)
    const bounds = named(['min', 'max'], { type: ['number', 'string'] })
    const lengths = named(['minLength', 'maxLength'], { type: 'integer' })
    const others = { default: {}, pluginOptions: OBJECT, targetAttribute: { type: ['string', 'null'] } }
    const all = { type: TEXT, ...named(texts, TEXT), ...lists, ...flags, ...bounds, ...lengths, ...others }
    return closed(all, ['type'])
  })
  const attributes = { type: 'object', additionalProperties: attribute }
  const names = named(['displayName', 'description', 'collectionName'], TEXT)
  const flags = named(['draftAndPublish', 'visible'], FLAG)
  const typeNames = named(['singularName', 'pluralName', 'kind'], TEXT)
  const parts = { ...names, attributes }
  const more = { pluginOptions: OBJECT, restrictRelationsTo: { type: 'null' } }
  const ofType = closed({ ...parts, ...flags, ...typeNames, ...more }, Object.keys(parts))
  const typed = closed({ uid: TEXT, plugin: TEXT, apiID: TEXT, schema: ofType }, ['uid', 'apiID', 'schema'])
  const ofComponent = closed(parts, Object.keys(parts))
  const described = { uid: TEXT, category: TEXT, apiId: TEXT, schema: ofComponent }
  return {
    contentType: table.ref('schema of a type', 'ContentTypeSchema', () => typed),
    component: table.ref('schema of a component', 'ComponentSchema', () =>
      closed(described, Object.keys(described)),
    ),
  }
}

const OBJECT: Schema = { type: 'object' }
