import { parse } from 'qs'
import type { Params } from '../actions/params.ts'
import { fault, RequestFault } from '../faults/fault.ts'

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

/** Keeps a null `status`, so that it is refused instead of read as the default. */
const dropNulls = (parameters: Params): Params =>
  Object.fromEntries(Object.entries(parameters).filter(([key, value]) => value !== null || key === 'status'))

/** Parses a form body (`application/x-www-form-urlencoded`). */
export const parseForm = (text: string): Params => parseText(text, 'form')

function parseText(text: string, what: 'query' | 'form'): Params {
  if (text === '') return NONE
  try {
    return parse(text, { ...OPTIONS, strictNullHandling: what === 'query' })
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

const tooMuch = ({ message }: RangeError, what: string): RequestFault =>
  new RequestFault(
    fault(
      'validation',
      message.startsWith('Array')
        ? `A list of a ${what} may have at most ${BOUNDS.listItems} items`
        : `A ${what} may have at most ${BOUNDS.parameters} parameters`,
    ),
  )
