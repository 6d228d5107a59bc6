import type { HttpAnswer } from '../faults/exchange.ts'

/** Of methods that no path has (contract/rest.md 1). */
export const NOT_IMPLEMENTED: HttpAnswer = {
  status: 501,
  body: 'Not Implemented',
  type: 'text/plain; charset=utf-8',
}
