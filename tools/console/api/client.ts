import { asList, asText, isJsonObject, type JsonValue, parseExact, printExact, toQuery } from './json.ts'

/** One field that the server refused: `details.errors` of docs/rest.md. */
export interface FieldFault {
  readonly path: readonly string[]
  readonly message: string
}

export class ApiFault extends Error {
  readonly status: number
  readonly fields: readonly FieldFault[]
  /** Seconds, with status 429 and 503. */
  readonly retryAfter: number | null

  constructor(status: number, message: string, fields: readonly FieldFault[], retryAfter: number | null) {
    super(message)
    this.status = status
    this.fields = fields
    this.retryAfter = retryAfter
  }
}

export interface ApiRequest {
  readonly query?: Readonly<Record<string, unknown>>
  readonly body?: unknown
  readonly form?: FormData
  readonly ifMatch?: string | null
  readonly signal?: AbortSignal
  /** false: a 401 throws; otherwise the page asks for the password and repeats the request. */
  readonly renewsSession?: false
}

export interface ApiAnswer {
  readonly body: JsonValue
  readonly etag: string | null
}

export interface SessionUser {
  readonly id: string
  readonly username: string
}

const USER_KEY = 'plinth-user'

/**
 * The session of the page. The token is in memory only; after a reload the server returns it for an HttpOnly cookie, which only
 * this page may send (docs/console.md, "Sign-in").
 */
class Session {
  user: SessionUser | null = null
  /** A request was answered with 401: all requests wait until the user signs in again. */
  expired = false
  #token: string | null = null
  #waiting: (() => void)[] = []
  readonly #listeners = new Set<() => void>()
  #version = 0

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  readonly version = (): number => this.#version

  get hasToken(): boolean {
    return this.#token !== null
  }

  get headers(): Record<string, string> {
    return this.#token === null ? {} : { Authorization: `Bearer ${this.#token}` }
  }

  storedUser(): SessionUser | null {
    const stored = sessionStorage.getItem(USER_KEY)
    const value: JsonValue = stored === null ? null : (JSON.parse(stored) as JsonValue)
    return isJsonObject(value) ? { id: asText(value.id), username: asText(value.username) } : null
  }

  /** Waits for the cookie, so that a reload or a sign-out right afterwards finds it. */
  async start(body: JsonValue): Promise<void> {
    const answer = isJsonObject(body) ? body : {}
    this.#token = asText(answer.jwt) || null
    if (this.#token !== null) await requestSession('POST', this.headers)
    this.accept(readUser(answer.user ?? null))
  }

  accept(user: SessionUser | null): void {
    const isOtherUser = user !== null && this.user !== null && user.id !== this.user.id
    if (user) sessionStorage.setItem(USER_KEY, JSON.stringify(user))
    this.user = user
    this.expired = false
    for (const resume of this.#waiting.splice(0)) resume()
    this.#changed()
    // The former user's content must not stay on screen.
    if (isOtherUser) location.reload()
  }

  /** After a reload: the token of the cookie, if there is one. */
  async restore(): Promise<void> {
    if (this.#token !== null) return
    const response = await requestSession('POST', {})
    const answer: JsonValue = response?.ok ? ((await response.json()) as JsonValue) : null
    this.#token = isJsonObject(answer) ? asText(answer.jwt) || null : null
  }

  async end(): Promise<void> {
    this.#token = null
    sessionStorage.clear()
    await requestSession('DELETE', {})
    location.assign(page.path)
  }

  async renew(): Promise<void> {
    this.#token = null
    this.expired = true
    this.#changed()
    await new Promise<void>(resolve => this.#waiting.push(resolve))
  }

  #changed(): void {
    this.#version++
    for (const listener of this.#listeners) listener()
  }
}

export const readUser = (value: JsonValue): SessionUser | null =>
  isJsonObject(value) ? { id: String(value.id ?? ''), username: asText(value.username) } : null

/** null: the server did not answer; the page then asks for the password. */
const requestSession = (method: 'POST' | 'DELETE', headers: Readonly<Record<string, string>>) =>
  fetch(`${page.path}/session`, {
    method,
    headers: { ...headers, 'X-Plinth-Console': '1' },
    credentials: 'same-origin',
    signal: AbortSignal.timeout(10_000),
  }).catch(() => null)

export const session = new Session()

/** Paths of the page and of the API, from a meta element of the HTML. */
export const page: PageInfo = readPage()

interface PageInfo {
  readonly path: string
  readonly api: string
  /** Names of the OAuth providers. */
  readonly providers: readonly string[]
}

function readPage(): PageInfo {
  const content = document.querySelector('meta[name="plinth"]')?.getAttribute('content') ?? '{}'
  const value = JSON.parse(content) as JsonValue
  const info = isJsonObject(value) ? value : {}
  return {
    path: asText(info.path) || '/console',
    api: asText(info.api) || '/api',
    providers: asList(info.providers).map(asText),
  }
}

/** Sends a request to `path` below the API's prefix. Throws ApiFault for a status of 400 or more. */
export async function callApi(method: string, path: string, request: ApiRequest = {}): Promise<ApiAnswer> {
  const response = await send(method, path, request)
  if (response.status === 401 && request.renewsSession !== false) {
    await session.renew()
    return callApi(method, path, request)
  }
  const text = await response.text()
  const json = /json/.test(response.headers.get('Content-Type') ?? '')
  const body = json && text !== '' ? parseExact(text) : null
  if (!response.ok) throw toFault(response, body)
  return { body, etag: response.headers.get('ETag') }
}

async function send(method: string, path: string, request: ApiRequest): Promise<Response> {
  const { query = {}, body, form, ifMatch, signal } = request
  // A project imported from Strapi 4 answers in that format unless a request names another one.
  const headers: Record<string, string> = {
    ...session.headers,
    'X-Plinth-Console': '1',
    'Strapi-Response-Format': 'v5',
  }
  if (body !== undefined) headers['Content-Type'] = 'application/json'
  if (ifMatch) headers['If-Match'] = ifMatch
  const content = form ?? (body === undefined ? null : printExact(body))
  return fetch(page.api + path + toQuery(query), {
    method,
    headers,
    body: content,
    credentials: 'same-origin',
    ...(signal && { signal }),
  })
}

function toFault(response: Response, body: JsonValue): ApiFault {
  const error = isJsonObject(body) && isJsonObject(body.error) ? body.error : {}
  const details = isJsonObject(error.details) ? error.details : {}
  const fields = asList(details.errors)
    .filter(isJsonObject)
    .map(({ path, message }) => ({ path: asList(path).map(String), message: asText(message) }))
  const seconds = Number(response.headers.get('Retry-After'))
  const message = asText(error.message) || response.statusText || `HTTP ${response.status}`
  return new ApiFault(response.status, message, fields, seconds > 0 ? seconds : null)
}
