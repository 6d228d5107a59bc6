import type { AnswerCache } from '../cache/open-cache.ts'
import type { PermittedCommand, StatusCommand } from '../query/command.ts'
import { openChangeMany } from './change-many.ts'
import { changeStatus } from './change-status.ts'
import { deleteDocument } from './delete-document.ts'
import type { Answer, Documents } from './documents.ts'
import { openReads } from './read/read.ts'
import { openSave } from './save.ts'
import { describeWrite, openWriter, type WriterTerms } from './transact.ts'

export interface DocumentTerms extends WriterTerms {
  /** The response cache; absent or null: no caching. */
  readonly cache?: AnswerCache | null
  /** Maximum bytes of documents in the answer to one request; absent or 0: unlimited. */
  readonly maxBytes?: number
}

/** The document service: reads of one statement, writes of one transaction each. */
export function openDocuments(terms: DocumentTerms): Documents {
  const { model } = terms
  const writer = openWriter(terms)
  const save = openSave(writer, { storage: terms.storage, defaultLocale: model.defaultLocale })
  const change = async (command: PermittedCommand<StatusCommand>, answer: Answer) => {
    const { documentId, texts } = await writer.write(
      command.type,
      writing => changeStatus(command, answer, writing),
      describeWrite(command, answer),
    )
    return { documentId, texts: await texts }
  }
  return {
    ...openReads({ ...terms, defaultLocale: model.defaultLocale }),
    create: (command, answer) => save(command, answer),
    update: save,
    amend: (command, answer) => save(command, answer),
    delete: (command, seen = [], answer = null) =>
      writer.write(
        command.type,
        writing => deleteDocument(command, { seen, answer }, { ...writing, model }),
        describeWrite(command, answer ?? seen[0]),
      ),
    changeMany: openChangeMany(writer, model),
    publish: change,
    unpublish: change,
    discardDraft: change,
  }
}
