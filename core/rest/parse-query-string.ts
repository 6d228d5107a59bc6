import { parse } from 'qs'
import type { Params } from '../actions/action-params.ts'
import { toQueryStringForm } from '../actions/parameters/plain-values.ts'
import { type Fault, fault, printRejectedValue, RequestFault } from '../faults/fault.ts'
import type { HttpRequest } from '../faults/http-exchange.ts'
import { isForm, readForm } from '../media/read-form.ts'
import { decodeBody, parseJsonBody } from '../query/parse-json.ts'
import { isRecord } from '../query/parse-place.ts'

const NONE: Params = {}

/**
 * Limits of reference/rest.md#16-response-format-v4-and-query-parsing. Keys beyond the depth stay literal, so they are refused as unknown names; input over
 * another limit is refused, never dropped. Node bounds the length of a URL (16 KiB with the headers).
 */
const BOUNDS = { depth: 20, listItems: 100, parameters: 1000 } as const

/** Parses a query string; a name without `=` is null. */
export const parseWithNulls = (text: string): Params => parseText(text, 'query')

/** Parses a query string for the content API: null is a value inside filters, and ignored at the top level. */
export function parseQueryString(text: string): Params {
  const parsed = parseWithNulls(text)
  return Object.values(parsed).includes(null) ? dropNulls(parsed) : parsed
}

/** The parameters of a request: those that project code wrote (`context.query`), else those of its query string. */
export const requestParams = ({ query, search }: Pick<HttpRequest, 'query' | 'search'>): Params =>
  query ? toQueryStringForm(query) : parseQueryString(search)

/** Keeps a null `status`, so that it is refused instead of read as the default, and `pLevel`, which asks for a default depth. */
const dropNulls = (parameters: Params): Params =>
  Object.fromEntries(
    Object.entries(parameters).flatMap(([key, value]): [string, unknown][] => {
      if (value !== null || key === 'status') return [[key, value]]
      return key === 'pLevel' ? [[key, '']] : []
    }),
  )

/** Parses a form body (`application/x-www-form-urlencoded`). */
export const parseForm = (text: string): Params => parseText(text, 'form')

function parseText(text: string, what: 'query' | 'form'): Params {
  if (text === '') return NONE
  try {
    const options = { ...OPTIONS, strictNullHandling: what === 'query' }
    const parsed = joinPopulate(parse(text, options), () => parse(text, { ...options, strictMerge: false }))
    return what === 'query' && BARE_ITEM.test(text) ? withoutBareItems(parsed) : parsed
  } catch (reason) {
    if (reason instanceof RangeError) throw tooMuch(reason, what)
    throw reason
  }
}

const OPTIONS = {
  depth: BOUNDS.depth,
  arrayLimit: BOUNDS.listItems,
  parameterLimit: BOUNDS.parameters,
  throwOnLimitExceeded: true,
} as const

/**
 * `populate[blocks][populate]=*&populate=author` populates both, as in Strapi: a plain value is one more key of the object. The
 * parser keeps such values apart otherwise, which refuses them.
 */
function joinPopulate(parsed: Params, parseJoined: () => Params): Params {
  const { populate } = parsed
  if (!hasMixedForms(populate)) return parsed
  const { populate: joined } = parseJoined()
  return { ...parsed, populate: withWords(joined) }
}

/** True for a list with both objects and texts. Names of every object (`constructor`) are no keys to the parser. */
function hasMixedForms(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false
  const items = Object.values(value)
  const isMixed = Object.hasOwn(value, '0') && items.some(isRecord)
  const texts = items.filter(item => typeof item === 'string')
  if (isMixed) return texts.length > 0 && !texts.some(text => text in Object.prototype)
  return items.some(hasMixedForms)
}

/** The parser gives joined keys the value `true`; all other values of a query string are texts. */
const withWords = (value: unknown): unknown =>
  value === true
    ? 'true'
    : Array.isArray(value)
      ? value.map(withWords)
      : isRecord(value)
        ? mapValues(value, withWords)
        : value

/** Clients write an empty list as `ids[]`, without `=`: @strapi/client does so for `$in: []`. */
const BARE_ITEM = /(?:\]|%5[Dd])(?:&|$)/

/** Strapi refuses `populate[]`; the null keeps it refused. */
const withoutBareItems = (parsed: Params): Params =>
  mapValues(parsed, (value, key) =>
    key === 'populate' && Array.isArray(value) ? value : withoutNulls(value),
  )

function withoutNulls(value: unknown): unknown {
  if (Array.isArray(value)) return value.filter(item => item !== null).map(withoutNulls)
  return isRecord(value) ? mapValues(value, withoutNulls) : value
}

const mapValues = (record: Params, change: (value: unknown, key: string) => unknown): Params =>
  Object.fromEntries(Object.entries(record).map(([key, value]) => [key, change(value, key)]))

const tooMuch = ({ message }: RangeError, what: string): RequestFault =>
  new RequestFault(
    fault(
      'validation',
      message.startsWith('Array')
        ? `A list of a ${what} may have at most ${BOUNDS.listItems} items`
        : `A ${what} may have at most ${BOUNDS.parameters} parameters`,
    ),
  )

type Data = Readonly<Record<string, unknown>>

/** The object under `data` in a write's body (reference/rest.md#1-envelope-and-status-codes, "Bodies"). */
export async function readData(request: HttpRequest): Promise<Data> {
  if (isForm(request) && (await hasFiles(request))) throw new RequestFault(formWithFiles())
  return toData(await readBody(request))
}

/** Reads a form without keeping its files and fields: those of a thousand parameters would take 57 MB. A form that cannot be read has no data, whatever is wrong with it. */
async function hasFiles(request: HttpRequest): Promise<boolean> {
  let found = false
  const accepts = () => {
    found = true
    return false
  }
  const rules = { accepts, fields: BOUNDS.parameters, fieldBytes: null }
  await readForm(request, { folder: '', sizeLimit: 0, rules }).catch((error: unknown) => {
    if (!(error instanceof RequestFault)) throw error
  })
  return found
}

const formWithFiles = (): Fault =>
  fault(
    'validation',
    'Missing "data" payload in the request body: a form cannot write a document. Upload its files to /upload first, then send their ids as JSON',
    { key: 'data', expected: 'application/json' },
  )

/** A body without an envelope (reference/rest.md#14-access); an empty one is `{}`. */
export async function readBareBody(request: HttpRequest): Promise<Data> {
  const body = await readBody(request)
  if (Array.isArray(body)) throw new RequestFault(notAnObject(body))
  return isRecord(body) ? body : {}
}

/** Like readBareBody, where nothing is required: a body that cannot be read must not be taken for an empty one. */
export async function readOptionalBody(request: HttpRequest): Promise<Data> {
  if (!readerOf(request) && (await request.body()).length > 0)
    throw new RequestFault(
      fault('validation', 'Invalid Content-Type: expected application/json', {
        key: 'Content-Type',
        expected: 'application/json',
      }),
    )
  return readBareBody(request)
}

const readerOf = ({ headers }: HttpRequest) =>
  READERS.find(({ type }) => type.test(headers['content-type'] ?? ''))

/** null: no body, or one of an unknown content type, which is ignored as in Strapi. */
async function readBody(request: HttpRequest): Promise<unknown> {
  const read = readerOf(request)
  if (!read) return null
  const bytes = await request.body()
  return bytes.length === 0 ? null : read.parse(bytes)
}

const READERS = [
  {
    type: /^\s*application\/(?:[\w.!#$&^-]+\+)?json\s*(?:;|$)/i,
    parse: (bytes: Buffer) => parseJsonBody(decodeBody(bytes)),
  },
  { type: /^\s*application\/x-www-form-urlencoded\s*(?:;|$)/i, parse: parseFormBody },
] as const

function toData(body: unknown): Data {
  const data = isRecord(body) && Object.hasOwn(body, 'data') ? body.data : undefined
  if (Array.isArray(data)) throw new RequestFault(notAnObject(data))
  if (!isRecord(data)) throw new RequestFault(missingData())
  return data
}

/** 56 KiB, as in Strapi; JSON has the limit of the settings. */
const FORM_LIMIT = 57_344

function parseFormBody(bytes: Buffer): unknown {
  if (bytes.length > FORM_LIMIT) throw new RequestFault(fault('payloadTooLarge', 'request entity too large'))
  return parseForm(decodeBody(bytes))
}

const missingData = (): Fault => fault('validation', 'Missing "data" payload in the request body')

/** Strapi's message, whose path is empty. */
function notAnObject(list: readonly unknown[]): Fault {
  const sentence = `this must be a \`object\` type, but the final value was: \`null\` (cast from the value \`${printRejectedValue(list)}\`).`
  const { message } = fault('validation', sentence)
  return fault('validation', message, {
    errors: [{ path: [], message, name: 'ValidationError', value: null }],
  })
}
