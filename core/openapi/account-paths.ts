import type { Action } from '../access/actions.ts'
import type { Caller } from '../access/caller.ts'
import { readableAttributes } from '../access/readable-attributes.ts'
import type { Attribute } from '../model/model.ts'
import type { Settings } from '../project/settings/settings.ts'
import { arrayOf, closed, documentOf, type Schema, type SchemaContext } from './answer-schemas.ts'
import { type DescribeOptions, errorResponses, jsonResponse, type PathItem } from './operations.ts'

export interface BuiltInOptions extends DescribeOptions {
  readonly project: Settings
  readonly caller: Caller
}

/** The paths of sign-in, registration and passwords, sign-in at providers, and API keys of users. */
export const accountPaths = (options: BuiltInOptions): Readonly<Record<string, PathItem>> => ({
  ...passwordPaths(options),
  ...providerPaths(options),
  ...keyPaths(options),
})

export const flat = (context: SchemaContext): SchemaContext => ({ ...context, format: 'flat' })

export interface DescribedOperation {
  readonly subject: string
  readonly action: Action
  readonly method: string
  /** Default: the operation's id is that of its permission. */
  readonly id?: string
  readonly summary: string
  readonly tag: string
  describe(context: SchemaContext): { readonly responses: Schema } & Schema
}

/** The operations that the caller may use. */
export function pathItem(operations: readonly DescribedOperation[], options: DescribeOptions): PathItem {
  const entries = operations.flatMap(({ subject, action, method, id, summary, tag, describe }) => {
    const context = options.contextOf(subject, action)
    if (!context) return []
    const { responses, ...rest } = describe(flat(context))
    const faults = errorResponses(method === 'get' ? 'get' : 'write', options)
    const head = { operationId: id ?? `${subject}.${action}`, summary, tags: [tag] }
    return [[method, { ...head, ...rest, responses: { ...responses, ...faults } }] as const]
  })
  return Object.fromEntries(entries)
}

export const TEXT: Schema = { type: 'string' }
export const FLAG: Schema = { type: 'boolean' }

export const jsonBody = (schema: Schema): Schema => ({
  requestBody: { required: true, content: { 'application/json': { schema } } },
})

const credentials = (names: readonly string[]): Schema =>
  jsonBody(closed(Object.fromEntries(names.map(name => [name, TEXT])), names))

function passwordPaths(options: BuiltInOptions): Readonly<Record<string, PathItem>> {
  const session = jsonResponse('A session', sessionSchema(options))
  const post = (action: Action, summary: string, body: Schema, answer: Schema = session) =>
    pathItem(
      [
        {
          ...{ subject: 'auth', action, method: 'post', summary, tag: 'Authentication' },
          describe: () => ({ ...body, responses: { 200: answer } }),
        },
      ],
      options,
    )
  const sent = closed({ email: TEXT, sent: FLAG }, ['email', 'sent'])
  const passwords = ['password', 'passwordConfirmation']
  return {
    '/auth/local': post('login', 'Sign in', credentials(['identifier', 'password'])),
    '/auth/local/register': options.project.auth.register.enabled
      ? post('register', 'Register', registration(options))
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
    '/auth/email-confirmation': confirmation(options),
  }
}

const confirmation = (options: BuiltInOptions): PathItem =>
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
    options,
  )

/** Registration may set more attributes only if the project says so. */
function registration({ model, project }: BuiltInOptions): Schema {
  const names = ['username', 'email', 'password']
  const more = project.auth.register.allowedFields.filter(name => model.builtIn.user.attributes.has(name))
  const others = Object.fromEntries(more.map(name => [name, {}]))
  return jsonBody(
    closed({ ...others, ...Object.fromEntries(names.map(name => [name, TEXT])) }, ['email', 'password']),
  )
}

/** The own user, without private attributes; after registration with the role, if the caller may read roles. */
function sessionSchema({ model, table, contextOf, caller }: BuiltInOptions): Schema {
  return table.ref('session', 'Session', () => {
    const { user } = model.builtIn
    const granted =
      contextOf('auth', 'login') ?? contextOf('auth', 'register') ?? contextOf('auth', 'resetPassword')
    // Sign-in at a provider needs no permission.
    const context: SchemaContext = granted ?? { table, grants: caller.grants, key: '', format: 'flat' }
    const own: ReadonlySet<Attribute> = new Set(
      [...readableAttributes(user)].filter(({ kind, name }) => kind === 'scalar' || name === 'role'),
    )
    return closed({ jwt: TEXT, user: documentOf(user, own, flat(context)) }, ['user'])
  })
}

/** Sign-in at providers needs no permission. */
function providerPaths(options: BuiltInOptions): Readonly<Record<string, PathItem>> {
  const names = Object.keys(options.project.auth.providers)
  if (names.length === 0) return {}
  const provider = { name: 'provider', in: 'path', required: true, schema: { type: 'string', enum: names } }
  const get = (id: string, summary: string, { parameters, responses }: ProviderStep): PathItem => ({
    get: {
      ...{ operationId: `auth.${id}`, summary, tags: ['Authentication'], security: [] },
      parameters: [provider, ...parameters],
      responses: { ...responses, ...errorResponses('get', options) },
    },
  })
  const text = (name: string, description: string, required = false): Schema => ({
    ...{ name, in: 'query', description, schema: TEXT },
    ...(required && { required }),
  })
  const found = (description: string) => ({ 302: { description } })
  return {
    '/connect/{provider}': get('connect', 'Sign in at a provider', {
      parameters: [text('callback', 'The page to return to: one of `redirectUrls`; default: the first')],
      responses: found('To the provider'),
    }),
    '/connect/{provider}/callback': get('receive', 'Where the provider returns to', {
      parameters: [text('code', 'Of the provider'), text('state', 'Of the provider')],
      responses: found('To the page of the project, with `access_token` or `error`'),
    }),
    '/auth/{provider}/callback': get('exchange', 'Exchange the `access_token` of the page for a session', {
      parameters: [text('access_token', 'Valid once', true)],
      responses: { 200: jsonResponse('A session', sessionSchema(options)) },
    }),
  }
}

interface ProviderStep {
  readonly parameters: readonly Schema[]
  readonly responses: Schema
}

/** Only sessions of users manage keys: an API token, or a key, is refused. */
function keyPaths(options: BuiltInOptions): Readonly<Record<string, PathItem>> {
  const { caller, project } = options
  if (!project.auth.keys.enabled || caller.kind !== 'user' || caller.key) return {}
  const permissions = { type: ['array', 'null'], items: TEXT }
  const properties = { id: TEXT, name: TEXT, permissions, createdAt: MOMENT, expiresAt: MOMENT }
  const key = (more: Readonly<Record<string, Schema>> = {}): Schema =>
    closed({ ...properties, ...more }, Object.keys({ ...properties, ...more }))
  const body = { name: { ...TEXT, minLength: 1, maxLength: 100 }, permissions, expiresAt: MOMENT }
  const operation = (
    method: string,
    summary: string,
    described: ReturnType<DescribedOperation['describe']>,
  ): PathItem =>
    pathItem(
      [
        {
          ...{ subject: 'users', action: 'me', method, id: `users.keys.${method}`, summary, tag: 'Users' },
          describe: () => described,
        },
      ],
      options,
    )
  const id: Schema = { name: 'id', in: 'path', required: true, schema: TEXT }
  return {
    '/users/me/keys': {
      ...operation('get', 'List your API keys', { responses: { 200: jsonResponse('Keys', arrayOf(key())) } }),
      ...operation('post', 'Create an API key', {
        ...jsonBody(closed(body, ['name'])),
        responses: { 201: jsonResponse('The key, which is shown this once', key({ key: TEXT })) },
      }),
    },
    '/users/me/keys/{id}': operation('delete', 'Delete an API key', {
      parameters: [id],
      responses: { 204: { description: 'The key is refused from now on' } },
    }),
  }
}

const MOMENT: Schema = { type: 'string', format: 'date-time' }
