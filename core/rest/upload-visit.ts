import type { Caller } from '../access/caller.ts'
import { failed, ok, type Result } from '../base/result.ts'
import type { HttpRequest } from '../faults/exchange.ts'
import { type Fault, fault } from '../faults/fault.ts'
import type { Files } from '../media/files.ts'
import type { RestTerms } from './visit.ts'

export interface UploadTerms extends RestTerms {
  readonly files: Files
}

/** One request by a caller who may do what it asks. */
export interface UploadVisit {
  readonly request: HttpRequest
  readonly caller: Caller
}

/** What no row has, so that absent files need no case of their own. */
const NO_ID = 0
const LAST_ID = 2_147_483_647

/** Files go by the numbers of their records alone (contract/rest.md 0, section 18). */
export function parseFileId(word: unknown): Result<number, Fault> {
  if (typeof word !== 'string' || !/^\d{1,20}$/.test(word))
    return failed(fault('validation', 'Invalid id: expected a number', { key: 'id', expected: 'a number' }))
  const id = Number(word)
  return ok(id <= LAST_ID ? id : NO_ID)
}

export const noFile = (): Fault => fault('notFound', 'file.notFound')
