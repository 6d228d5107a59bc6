import type { Database, Transaction } from '../database/database.ts'
import type { Storage } from '../model/storage.ts'
import type { Answer, Documents } from './documents.ts'
import { readBody } from './given-body.ts'
import { openReads } from './read.ts'
import { readOnly } from './read-only.ts'
import { saveDocument } from './save-document.ts'
import type { SaveCommand } from './save-version.ts'
import { transact } from './transact.ts'
import type { WriteTerms } from './write-terms.ts'

export interface DocumentTerms {
  readonly database: Database
  readonly storage: Storage
  readonly defaultLocale: string
}

/** The document service: reads of one statement, writes of one transaction each. */
export function openDocuments(terms: DocumentTerms): Documents {
  const save = async (command: SaveCommand, answer: Answer) => {
    const body = await readBody(command.type, command.values)
    const work = (transaction: Transaction) =>
      saveDocument({ command, answer, body }, { ...writeTerms(terms), transaction })
    return transact(command.type, work, terms)
  }
  return { ...readOnly(openReads(terms)), create: save, update: save }
}

const writeTerms = ({
  database,
  storage,
  defaultLocale,
}: DocumentTerms): Omit<WriteTerms, 'transaction'> => ({
  storage,
  schema: database.schema,
  defaultLocale,
  now: new Date().toISOString(),
  componentMatch: 'by-id',
  touch: true,
})
