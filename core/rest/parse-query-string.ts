import { parse } from 'qs'
import { failed, ok, type Result } from '../base/result.ts'
import { type Fault, fault } from '../faults/fault.ts'

/** A query string taken apart: texts, lists and objects of them. */
export type Parameters = Readonly<Record<string, unknown>>

const NONE: Parameters = {}

/**
 * contract/rest.md 16. Deeper keys stay literal, so that they are unknown names; whatever is over another bound
 * is refused, never dropped. Node itself bounds the length of an address (16 KiB with the headers).
 */
const BOUNDS = { depth: 20, listItems: 100, parameters: 1000 } as const

/** A name without `=` is null. */
export const parseNamesAndValues = (text: string): Result<Parameters, Fault> => parseText(text, 'query')

/** As the content API takes it: null asks for what is absent inside of filters; alone it says nothing. */
export function parseQueryString(text: string): Result<Parameters, Fault> {
  const parsed = parseNamesAndValues(text)
  return parsed.ok && Object.values(parsed.value).includes(null) ? ok(withoutNulls(parsed.value)) : parsed
}

/** But for the status: whoever began to say which versions he means is asked to finish. */
const withoutNulls = (parameters: Parameters): Parameters =>
  Object.fromEntries(Object.entries(parameters).filter(([key, value]) => value !== null || key === 'status'))

/** A body that is written like a query string. */
export const parseForm = (text: string): Result<Parameters, Fault> => parseText(text, 'form')

function parseText(text: string, what: 'query' | 'form'): Result<Parameters, Fault> {
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
