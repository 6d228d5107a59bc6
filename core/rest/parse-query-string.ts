import { parse } from 'qs'
import { failed, ok, type Result } from '../base/result.ts'
import { type Fault, fault } from '../faults/fault.ts'

/** A parsed query string: strings, lists and objects of them. */
export type QueryParameters = Readonly<Record<string, unknown>>

const NONE: QueryParameters = {}

/**
 * Limits of reference/rest.md#16-response-format-v4-and-query-parsing. Keys beyond the depth stay literal, so they are refused as unknown names; input over
 * another limit is refused, never dropped. Node bounds the length of a URL (16 KiB with the headers).
 */
const BOUNDS = { depth: 20, listItems: 100, parameters: 1000 } as const

/** Parses a query string; a name without `=` is null. */
export const parseWithNulls = (text: string): Result<QueryParameters, Fault> => parseText(text, 'query')

/** Parses a query string for the content API: null is a value inside filters, and ignored at the top level. */
export function parseQueryString(text: string): Result<QueryParameters, Fault> {
  const parsed = parseWithNulls(text)
  return parsed.ok && Object.values(parsed.value).includes(null) ? ok(dropNulls(parsed.value)) : parsed
}

/** Keeps a null `status`, so that it is refused instead of read as the default. */
const dropNulls = (parameters: QueryParameters): QueryParameters =>
  Object.fromEntries(Object.entries(parameters).filter(([key, value]) => value !== null || key === 'status'))

/** Parses a form body (`application/x-www-form-urlencoded`). */
export const parseForm = (text: string): Result<QueryParameters, Fault> => parseText(text, 'form')

function parseText(text: string, what: 'query' | 'form'): Result<QueryParameters, Fault> {
  if (text === '') return ok(NONE)
  try {
    return ok(parse(text, { ...OPTIONS, strictNullHandling: what === 'query' }))
  } catch (reason) {
    if (reason instanceof RangeError) return failed(tooMuch(reason, what))
    throw reason
  }
}

const OPTIONS = {
  depth: BOUNDS.depth,
  arrayLimit: BOUNDS.listItems,
  parameterLimit: BOUNDS.parameters,
  throwOnLimitExceeded: true,
} as const

const tooMuch = ({ message }: RangeError, what: string): Fault =>
  message.startsWith('Array')
    ? fault('validation', `A list of a ${what} may have at most ${BOUNDS.listItems} items`)
    : fault('validation', `A ${what} may have at most ${BOUNDS.parameters} parameters`)
