import { failed } from '../base/result.ts'
import { fault } from '../faults/fault.ts'
import type { DocumentReads, Documents } from './documents.ts'

/** Documents that nothing writes: every write is refused (501). */
export function readOnly(reads: DocumentReads): Documents {
  const refuse = async () => failed(fault('notImplemented', 'Not Implemented'))
  return { ...reads, create: refuse, update: refuse, delete: refuse }
}
