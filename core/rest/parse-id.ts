import { failed, ok, type Result } from '../base/result.ts'
import { type Fault, fault } from '../faults/fault.ts'

/** What no row has, so that absent rows need no case of their own. */
const NO_ID = 0
const LAST_ID = 2_147_483_647

/** Files, users and roles go by the numbers of their rows alone (contract/rest.md 0, section 18). */
export function parseId(word: unknown): Result<number, Fault> {
  if (typeof word !== 'string' || !/^\d{1,20}$/.test(word))
    return failed(fault('validation', 'Invalid id: expected a number', { key: 'id', expected: 'a number' }))
  const id = Number(word)
  return ok(id <= LAST_ID ? id : NO_ID)
}
