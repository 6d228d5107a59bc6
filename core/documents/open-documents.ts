import type { Database, Transaction } from '../database/database.ts'
import type { Model } from '../model/model.ts'
import type { Storage } from '../model/storage.ts'
import type { PermittedCommand, StatusCommand } from '../query/command.ts'
import { changeStatus } from './change-status.ts'
import { deleteDocument } from './delete-document.ts'
import type { Alongside, Answer, Documents } from './documents.ts'
import { readBody } from './given-body.ts'
import { openReads } from './read.ts'
import { saveDocument } from './save-document.ts'
import type { SaveCommand } from './save-version.ts'
import { transact } from './transact.ts'
import type { WriteTerms } from './write-terms.ts'

export interface DocumentTerms {
  readonly database: Database
  readonly storage: Storage
  readonly model: Model
}

/** The document service: reads of one statement, writes of one transaction each. */
export function openDocuments(terms: DocumentTerms): Documents {
  const save = async (command: SaveCommand, answer: Answer, alongside?: Alongside) => {
    const body = await readBody(command.type, command.values)
    const work = async (transaction: Transaction) => {
      const written = await saveDocument({ command, answer, body }, { ...writeTerms(terms), transaction })
      await alongside?.(transaction, written.documentId)
      return written
    }
    return transact(command.type, work, terms)
  }
  const change = (command: PermittedCommand<StatusCommand>, answer: Answer) => {
    const work = (transaction: Transaction) =>
      changeStatus(command, answer, { ...writeTerms(terms), transaction })
    return transact(command.type, work, terms)
  }
  const reads = openReads({ ...terms, defaultLocale: terms.model.defaultLocale })
  return {
    ...reads,
    create: (command, answer) => save(command, answer),
    update: save,
    delete: (command, seen = []) => {
      const work = (transaction: Transaction) =>
        deleteDocument(command, seen, { ...writeTerms(terms), transaction, model: terms.model })
      return transact(command.type, work, terms)
    },
    publish: change,
    unpublish: change,
    discardDraft: change,
  }
}

const writeTerms = ({
  database,
  storage,
  model: { defaultLocale },
}: DocumentTerms): Omit<WriteTerms, 'transaction'> => ({
  storage,
  schema: database.schema,
  defaultLocale,
  now: new Date().toISOString(),
  componentMatch: 'by-id',
  touch: true,
})
