import { validateHeaderName, validateHeaderValue } from 'node:http'
import { parseJsonText } from '../../base/text.ts'
import type { HttpResponse } from '../../faults/http-exchange.ts'
import type { PluginResponse, SendOptions } from '../context.ts'
import { assertKnownKeys, nameType } from '../plugin-module.ts'

/** Headers that plugins set. Checked when they are set: the stack then leads to the plugin. */
export class PluginHeaders {
  readonly #headers = new Map<string, readonly [string, string]>()

  /** Throws for a name or value that HTTP does not allow, and for headers that describe how a body is sent. */
  set(name: string, value: string): void {
    validateHeaderName(name)
    validateHeaderValue(name, value)
    const key = name.toLowerCase()
    if (FRAMING.has(key)) throw new Error(`${name} is set by the server, from the body that it sends`)
    this.#headers.set(key, [name, value])
  }

  get(name: string): string | undefined {
    return this.#headers.get(name)?.[1]
  }

  /** `others`, and these in place of others with the same name. */
  over(others: Readonly<Record<string, string>> = {}): Readonly<Record<string, string>> {
    const kept = Object.entries(others).filter(([name]) => !this.#headers.has(name.toLowerCase()))
    return Object.fromEntries([...kept, ...this.#headers.values()])
  }

  get size(): number {
    return this.#headers.size
  }
}

const FRAMING: ReadonlySet<string> = new Set(['content-length', 'transfer-encoding'])

/** A response that plugins and the route can still change. */
export class SharedResponse implements PluginResponse {
  #answer: HttpResponse | null = null
  #isClosed = false
  readonly #headers = new PluginHeaders()
  readonly #onLate: (call: string) => void

  /** `onLate`: called for each change after the response was sent, which has no effect. */
  constructor(onLate: (call: string) => void) {
    this.#onLate = onLate
  }

  get status(): number {
    return this.#answer?.status ?? 0
  }

  set status(status: number) {
    if (!this.#isLate('status'))
      this.#answer = { ...(this.#answer ?? { body: null }), status: toStatus(status) }
  }

  get body(): string | Buffer | null {
    return this.#answer?.body ?? null
  }

  /** Code of Koa and Express assigns it. */
  set body(_value: unknown) {
    throw new TypeError('http.response.body cannot be assigned: use http.response.send(value)')
  }

  /** Code of Express passes a value. */
  json(...values: readonly unknown[]): unknown {
    if (values.length > 0)
      throw new TypeError('http.response.json() reads the response: use http.response.send(value)')
    return parseJsonText(String(this.body))
  }

  send(value: unknown, options: SendOptions = {}): void {
    if (this.#isLate('send')) return
    assertSendOptions(options)
    const { status = 200, type } = options
    if (type !== undefined) validateHeaderValue('Content-Type', type)
    const isRaw = type !== undefined && (typeof value === 'string' || Buffer.isBuffer(value))
    const body = isRaw ? value : value === undefined ? null : toJsonBody(value, 'http.response.send(…)')
    if (body !== null && body !== 'null' && WITHOUT_BODY.has(status))
      throw new TypeError(`a response with the status ${status} has no body`)
    this.#answer = { status: toStatus(status), body, hasEtag: true, ...(type === undefined ? {} : { type }) }
  }

  setHeader(name: string, value: string): void {
    if (!this.#isLate('setHeader')) this.#headers.set(name, value)
  }

  /** Sets the response of the route. */
  take(answer: HttpResponse): void {
    this.#answer = answer
  }

  /** null: no response was set. Later changes have no effect. */
  close(): HttpResponse | null {
    this.#isClosed = true
    const answer = this.#answer && withoutBody(this.#answer)
    if (!answer || this.#headers.size === 0) return answer
    const all = Object.entries(this.#headers.over(answer.headers))
    const headers = Object.fromEntries(all.filter(([name]) => name.toLowerCase() !== 'content-type'))
    // An error keeps its own type: it has another body than the one that the plugin meant.
    const type = answer.fault ? undefined : this.#headers.get('content-type')
    return { ...answer, headers, ...(type !== undefined && { type }) }
  }

  #isLate(call: string): boolean {
    if (this.#isClosed) this.#onLate(call)
    return this.#isClosed
  }
}

function assertSendOptions(options: unknown): asserts options is SendOptions {
  const what = 'the second argument of http.response.send(…)'
  if (typeof options !== 'object' || options === null || Array.isArray(options))
    throw new TypeError(`${what} is an object with status, type, found ${nameType(options)}`)
  assertKnownKeys(options, ['status', 'type'], what)
}

/** HTTP gives these no content (RFC 9110, 15.3.5, 15.3.6 and 15.4.5), nor its length in a 204. */
const WITHOUT_BODY: ReadonlySet<number> = new Set([204, 205, 304])

/** Code that sets the status alone means the body that is there to go. */
const withoutBody = (answer: HttpResponse): HttpResponse =>
  answer.body !== null && WITHOUT_BODY.has(answer.status) ? { ...answer, body: null } : answer

/** 1xx is no response: a client would wait for another one. */
function toStatus(status: unknown): number {
  if (typeof status === 'number' && Number.isInteger(status) && status >= 200 && status <= 599) return status
  throw new RangeError(`the status of a response is a whole number from 200 to 599, found ${String(status)}`)
}

/**
 * The text of a body. Throws for what JSON would turn into something else: a Map into `{}`, a stream into its buffers, a
 * function into nothing. `source` begins the message.
 */
export function toJsonBody(value: unknown, source: string): string {
  const kind = foreignKind(value)
  if (kind) throw new TypeError(`${source} got ${kind}`)
  let text: string | undefined
  try {
    text = JSON.stringify(value)
  } catch (error) {
    // Errors of the value's own code keep their place.
    if (error instanceof Error && !isSerializerError(error)) throw error
    throw notJson(source, error)
  }
  if (text === undefined) throw new TypeError(`${source} got ${nameType(value)}, which JSON does not have`)
  if (MAY_BE_LOST.test(text) || holdsError(value)) assertNothingLost(value, source)
  return text
}

const notJson = (source: string, error: unknown): TypeError =>
  new TypeError(`${source} got what is no JSON: ${error instanceof Error ? error.message : String(error)}`, {
    cause: error,
  })

/** What JSON makes of a promise that nothing awaits, of a Buffer and of other bytes. */
const MAY_BE_LOST = /\{\}|\{"type":"Buffer",|\{"0":/

/** An error with properties of its own has JSON that is not empty, without its message. */
const holdsError = (value: unknown): boolean =>
  typeof value === 'object' && value !== null && Object.values(value).some(inner => inner instanceof Error)

/** Throws for a value within another one whose JSON is empty or distorted, such as a promise that nothing awaits. */
function assertNothingLost(value: unknown, source: string): void {
  let lost: string | null = null
  const look = function (this: object, key: string, inner: unknown) {
    // What a Buffer was before its `toJSON`.
    const raw: unknown = Reflect.get(this, key)
    const kind = lost === null ? (foreignKind(raw) ?? functionsKind(inner) ?? emptyKind(inner)) : null
    if (kind) lost = `${source} got${key === '' ? '' : `, under \`${key}\`,`} ${kind}`
    return lost === null ? inner : null
  }
  try {
    JSON.stringify(value, look)
  } catch (error) {
    // Newer versions of Node print values that are too deep for a function that looks at each of them.
    throw notJson(source, error)
  }
  if (lost !== null) throw new TypeError(lost)
}

/** An object of functions, such as `app.documents(uid)` without an action, is `{}` in JSON. */
function functionsKind(value: unknown): string | null {
  if (typeof value !== 'object' || value === null || 'toJSON' in value) return null
  const inner: unknown[] = Object.values(value)
  return inner.length > 0 && inner.every(each => typeof each === 'function')
    ? 'an object of functions: call one, and await it'
    : null
}

/** An instance without properties of its own, such as a Blob, a RegExp or URLSearchParams, is `{}` in JSON. */
function emptyKind(value: unknown): string | null {
  if (
    typeof value !== 'object' ||
    value === null ||
    Array.isArray(value) ||
    value.valueOf !== Object.prototype.valueOf
  )
    return null
  const name = value.constructor.name
  return name === 'Object' || Object.keys(value).length > 0
    ? null
    : `an object of the class ${name}, of which JSON has nothing: answer its values`
}

const isSerializerError = ({ stack = '' }: Error): boolean =>
  /^ +at JSON\.stringify /m.test(firstFrame(stack))

const firstFrame = (stack: string): string => stack.split('\n').find(line => /^ +at /.test(line)) ?? ''

/** What to do instead, for values whose JSON would lose their content. null: an ordinary value. */
function foreignKind(value: unknown): string | null {
  if (typeof value !== 'object' || value === null) return null
  // Others with toJSON, such as dates and Sequelize models, say themselves what they are in JSON.
  if ('toJSON' in value && !ArrayBuffer.isView(value)) return null
  const found = FOREIGN.find(([, matches]) => matches(value))
  return found ? found[0] : null
}

const FOREIGN: readonly (readonly [string, (value: object) => boolean])[] = [
  ['a promise: await it', value => value instanceof Promise],
  ['a Map, which JSON does not have: use Object.fromEntries(map)', value => value instanceof Map],
  ['a Set, which JSON does not have: use [...set]', value => value instanceof Set],
  [
    'bytes: use http.response.send(Buffer.from(bytes), { type })',
    value => ArrayBuffer.isView(value) || value instanceof ArrayBuffer,
  ],
  ['a Response: read it, and use http.response.send(text, { type })', value => value instanceof Response],
  ['an Error: throw it', value => value instanceof Error],
  [
    'a stream: read it, or answer from an Express router of rest.mount',
    value => ('pipe' in value && typeof value.pipe === 'function') || value instanceof ReadableStream,
  ],
  [
    'a generator, which JSON does not have: use [...values]',
    value => Symbol.asyncIterator in value || ('next' in value && Symbol.iterator in value),
  ],
]
