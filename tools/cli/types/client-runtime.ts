import type {
  FieldOf,
  FiltersOf,
  Found,
  PopulateOf,
  SortOf,
  TermsOf,
  TypeOptions,
} from '../../../core/plugins/document-types.ts'

// The part of a generated client that is the same for all projects. `plinth client` copies it below the types of the
// project, without the imports.

/** What a request selects of the documents that it answers. */
interface Selecting<Populate, Field extends string> {
  readonly fields?: readonly Field[] | undefined
  readonly populate?: Populate
  readonly locale?: string | undefined
  readonly status?: 'draft' | 'published' | undefined
}

interface Listing<Terms extends TypeOptions, Populate, Field extends string>
  extends Selecting<Populate, Field> {
  readonly filters?: FiltersOf<Terms> | undefined
  /** With `search`, the default is `relevance`. */
  readonly sort?: SortOf<Terms> | 'relevance' | undefined
  readonly pagination?: PageQuery | undefined
  /** Searches texts, numbers and uids. */
  readonly _q?: string | undefined
  /** Full-text search; only of a type with `search:`. */
  readonly search?: string | undefined
  /** Searched attributes to return in `_highlight`, with marked matches. */
  readonly highlight?: readonly string[] | undefined
}

export type PageQuery = (
  | { readonly page?: number; readonly pageSize?: number }
  | { readonly start?: number; readonly limit?: number }
) & { readonly withCount?: boolean | 'estimate' }

export interface ListPage {
  readonly page?: number
  readonly pageSize?: number
  readonly pageCount?: number
  readonly start?: number
  readonly limit?: number
  readonly total?: number
  /** With `withCount: 'estimate'`: false if there are more than `total`. */
  readonly totalIsExact?: boolean
}

/** The input of a create: attributes that are required must be given. */
export type NewDocument<Terms extends TypeOptions> = Terms['input'] & {
  readonly [Name in Terms['required']]: unknown
}

/** The requests of a collection. Each rejects with an ApiError if the server refuses it. */
export interface Collection<Terms extends TypeOptions> {
  find<const Populate extends PopulateOf<Terms> = never, const Field extends FieldOf<Terms> = FieldOf<Terms>>(
    query?: Listing<Terms, Populate, Field>,
  ): Promise<{ data: Found<Terms, Populate, Field>[]; meta: { pagination: ListPage } }>
  findOne<
    const Populate extends PopulateOf<Terms> = never,
    const Field extends FieldOf<Terms> = FieldOf<Terms>,
  >(
    documentId: string,
    query?: Selecting<Populate, Field>,
  ): Promise<{ data: Found<Terms, Populate, Field>; meta: object }>
  create<
    const Populate extends PopulateOf<Terms> = never,
    const Field extends FieldOf<Terms> = FieldOf<Terms>,
  >(
    data: NewDocument<Terms>,
    query?: Selecting<Populate, Field>,
  ): Promise<{ data: Found<Terms, Populate, Field>; meta: object }>
  update<
    const Populate extends PopulateOf<Terms> = never,
    const Field extends FieldOf<Terms> = FieldOf<Terms>,
  >(
    documentId: string,
    data: Terms['input'],
    query?: Selecting<Populate, Field>,
  ): Promise<{ data: Found<Terms, Populate, Field>; meta: object }>
  delete(documentId: string, query?: { readonly locale?: string | undefined }): Promise<void>
}

/** The requests of a single type. */
export interface Single<Terms extends TypeOptions> {
  find<const Populate extends PopulateOf<Terms> = never, const Field extends FieldOf<Terms> = FieldOf<Terms>>(
    query?: Selecting<Populate, Field>,
  ): Promise<{ data: Found<Terms, Populate, Field>; meta: object }>
  update<
    const Populate extends PopulateOf<Terms> = never,
    const Field extends FieldOf<Terms> = FieldOf<Terms>,
  >(
    data: Terms['input'],
    query?: Selecting<Populate, Field>,
  ): Promise<{ data: Found<Terms, Populate, Field>; meta: object }>
  delete(query?: { readonly locale?: string | undefined }): Promise<void>
}

export type FileEntry = Found<TermsOf<'plugin::upload.file'>>
export type SignedInUser = Found<TermsOf<'plugin::users-permissions.user'>>

/** `jwt` is absent until a new user has confirmed the mail address, if the project asks for that. */
export interface Session {
  readonly jwt?: string
  readonly user: SignedInUser
}

/** Requests that concern no content-type. */
export interface Requests {
  readonly auth: {
    /** Later requests are sent with the token of the answer. */
    login(identifier: string, password: string): Promise<Session>
    register(user: {
      readonly username: string
      readonly email: string
      readonly password: string
    }): Promise<Session>
    /** The user of the token. */
    me(query?: object): Promise<SignedInUser>
    /** Later requests are sent without a token. */
    logout(): void
  }
  /** Uploads files; resolves to their entries. */
  upload(...files: readonly (Blob & { readonly name?: string })[]): Promise<FileEntry[]>
  /** Any other request. `path` is below the URL of the API: `/articles/slug/one`. */
  request<Answer = unknown>(method: string, path: string, options?: RequestOptions): Promise<Answer>
}

export interface RequestOptions {
  readonly query?: object | undefined
  /** JSON; a FormData goes as it is. */
  readonly body?: unknown
  readonly headers?: Readonly<Record<string, string>> | undefined
  readonly signal?: AbortSignal | undefined
}

export interface ClientOptions {
  /** The URL of the API: `https://example.org/api`. */
  readonly url: string
  /** An API token, or the token of a session. */
  readonly token?: string | undefined
  /** Default: the `fetch` of the platform. */
  readonly fetch?: typeof fetch | undefined
}

/** A refused request, with the error of the server: `status` 404, `name` NotFoundError. */
export class ApiError extends Error {
  override readonly name: string
  readonly status: number
  readonly details: unknown

  constructor(
    status: number,
    { name, message, details }: { name?: string; message?: string; details?: unknown },
  ) {
    super(message ?? `HTTP status ${status}`)
    this.name = name ?? 'ApiError'
    this.status = status
    this.details = details
  }
}

type Routes = Readonly<Record<string, { readonly path: string; readonly isSingle: boolean }>>

type Send = (method: string, path: string, options?: RequestOptions) => Promise<unknown>

function connect(routes: Routes, { url, token: first, fetch: send = fetch }: ClientOptions): Requests {
  const base = url.endsWith('/') ? url.slice(0, -1) : url
  let token = first
  const request: Send = async (method, path, { query, body, headers, signal } = {}) => {
    const text = parametersOf('', query ?? {}).join('&')
    const isForm = body instanceof FormData
    const response = await send(`${base}${path}${text && `?${text}`}`, {
      method,
      headers: {
        'Strapi-Response-Format': 'v5',
        ...(body !== undefined && !isForm && { 'Content-Type': 'application/json' }),
        ...(token && { Authorization: `Bearer ${token}` }),
        ...headers,
      },
      ...(body !== undefined && { body: isForm ? body : JSON.stringify(body, printBig) }),
      ...(signal && { signal }),
    })
    const answer = await response.text()
    const value = answer && parse(answer)
    if (response.ok) return value === '' ? undefined : value
    throw new ApiError(response.status, (Object(value) as { error?: object }).error ?? {})
  }
  /** Without the present token, which may have ended. */
  const signIn = async (path: string, body: object): Promise<unknown> => {
    const session = await request('POST', path, { body, headers: { Authorization: '' } })
    token = (session as Session).jwt ?? token
    return session
  }
  const auth = {
    login: (identifier: string, password: string) => signIn('/auth/local', { identifier, password }),
    register: (user: object) => signIn('/auth/local/register', user),
    me: (query: object = {}) => request('GET', '/users/me', { query }),
    logout() {
      token = undefined
    },
  }
  const upload = (...files: readonly (Blob & { readonly name?: string })[]) => {
    const body = new FormData()
    for (const file of files) body.append('files', file, file.name ?? 'file')
    return request('POST', '/upload', { body })
  }
  const types = Object.entries(routes).map(([name, { path, isSingle }]) => [
    name,
    isSingle ? singleAt(`/${path}`, request) : collectionAt(`/${path}`, request),
  ])
  return { request, auth, upload, ...Object.fromEntries(types) } as unknown as Requests
}

const singleAt = (path: string, request: Send) => ({
  find: (query: object = {}) => request('GET', path, { query }),
  update: (data: unknown, query: object = {}) => request('PUT', path, { query, body: { data } }),
  delete: (query: object = {}) => request('DELETE', path, { query }),
})

function collectionAt(path: string, request: Send) {
  const at = (documentId: string) => `${path}/${encodeURIComponent(documentId)}`
  return {
    find: (query: object = {}) => request('GET', path, { query }),
    findOne: (id: string, query: object = {}) => request('GET', at(id), { query }),
    create: (data: unknown, query: object = {}) => request('POST', path, { query, body: { data } }),
    update: (id: string, data: unknown, query: object = {}) =>
      request('PUT', at(id), { query, body: { data } }),
    delete: (id: string, query: object = {}) => request('DELETE', at(id), { query }),
  }
}

/** JSON, or the text itself: a proxy may answer HTML. */
function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}

/** JSON has no big integers: the API takes them as texts. */
const printBig = (_key: string, value: unknown): unknown =>
  typeof value === 'bigint' ? String(value) : value

/** `{ filters: { title: ['a'], kind: null } }` is `filters[title][0]=a&filters[kind]`: a name without `=` is null. */
function parametersOf(name: string, value: unknown): readonly string[] {
  if (value === undefined) return []
  if (value === null) return [encodeURIComponent(name)]
  if (typeof value === 'object' && !(value instanceof Date))
    return Object.entries(value).flatMap(([key, inner]) =>
      parametersOf(name === '' ? key : `${name}[${key}]`, inner),
    )
  const text = value instanceof Date ? value.toISOString() : String(value)
  return [`${encodeURIComponent(name)}=${encodeURIComponent(text)}`]
}

export { connect }
