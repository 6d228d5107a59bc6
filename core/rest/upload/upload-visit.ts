import type { Caller } from '../../access/caller.ts'
import type { HttpRequest } from '../../faults/exchange.ts'
import { type Fault, fault } from '../../faults/fault.ts'
import type { Files } from '../../media/files.ts'
import type { RestTerms } from '../request-visit.ts'

export interface UploadTerms extends RestTerms {
  readonly files: Files
}

/** One request by a caller who may do what it asks. */
export interface UploadVisit {
  readonly request: HttpRequest
  readonly caller: Caller
}

export const noFile = (): Fault => fault('notFound', 'file.notFound')
